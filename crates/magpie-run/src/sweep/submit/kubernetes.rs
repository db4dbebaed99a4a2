//! An Indexed Job of Kubernetes.

use super::Job;

/// What Kubernetes has to know beside the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pods {
    /// The container image; it starts magpie.
    pub image: String,
    /// The claim of a volume that all nodes can write to.
    pub claim: String,
    /// The text of the sweep file, if it is to travel with the job and not to lie on the volume.
    pub sweep: Option<String>,
}

/// Where pods see the volume.
pub const VOLUME: &str = "/data";
/// Where they see the sweep file that travels with the job.
pub const TRAVELLING: &str = "/sweep/sweep.toml";

/// A manifest for `kubectl create -f`. It needs Kubernetes 1.29, for limits of failures by index.
pub fn kubernetes(job: &Job, pods: &Pods) -> String {
    let Job { tasks, each, .. } = job;
    let name = format!("magpie-{}", label(&job.name));
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let arguments: Vec<String> = job.arguments().iter().map(|word| text(word)).collect();
    let (map, mount, volume) = match &pods.sweep {
        None => Default::default(),
        Some(sweep) => (
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  sweep.toml: |2\n{}---\n",
                sweep.lines().map(|line| format!("    {line}\n")).collect::<String>(),
            ),
            "        - name: sweep\n          mountPath: /sweep\n          readOnly: true\n".to_owned(),
            format!("      - name: sweep\n        configMap:\n          name: {name}\n"),
        ),
    };
    format!(
        r#"# A sweep as an Indexed Job of Kubernetes, written by `magpie sweep submit`. Each of {tasks} pods makes its shard of the runs.
# A pod that is evicted saves its run; its successor goes on. So does that of a pod whose node is lost, from the last
# checkpoint. Results do not depend on any of that.
{map}apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completionMode: Indexed
  completions: {tasks}
  parallelism: {tasks}
  # A shard that fails is tried again; it does not stop the others.
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
    # Evicted, preempted or drained: not a failure of the run.
    - action: Ignore
      onPodConditions:
      - type: DisruptionTarget
        status: "True"
  template:
    spec:
      restartPolicy: Never
      # For the iteration under way and for saving.
      terminationGracePeriodSeconds: {grace}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
      - name: magpie
        image: {image}
        args: [{arguments}]
        resources:
          requests:
            cpu: "{cores}"
            memory: {memory}Gi
          limits:
            cpu: "{cores}"
            memory: {memory}Gi
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop: ["ALL"]
        volumeMounts:
        - name: data
          mountPath: {VOLUME}
        - name: tmp
          mountPath: /tmp
{mount}      volumes:
      - name: data
        persistentVolumeClaim:
          claimName: {claim}
      - name: tmp
        emptyDir: {{}}
{volume}"#,
        grace = each.grace,
        image = text(&pods.image),
        arguments = arguments.join(", "),
        cores = each.cores,
        memory = each.memory,
        claim = text(&pods.claim),
    )
}

/// What Kubernetes takes as a part of a name: lower case, digits and dashes. Names of pods are this, an index and more, in 63
/// characters.
fn label(name: &str) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    match plain.trim_matches('-') {
        "" => "sweep".to_owned(),
        label => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Request;
    use super::*;

    /// Against the schema of the API it is checked by `bench/kubernetes.py`.
    #[test]
    fn the_manifest_says_what_a_pod_gets_and_does() {
        let job = Job {
            name: "My Sweep".to_owned(),
            file: TRAVELLING.into(),
            out: "/data/My Sweep".into(),
            tasks: 12,
            each: Request { cores: 16, memory: 3, seconds: 3600, grace: 130 },
        };
        let (image, claim) = ("registry/magpie:1".to_owned(), "results".to_owned());
        let travelling = Pods { image, claim, sweep: Some("[axes]\n  seed = [1, \"2\"]\n".to_owned()) };
        let manifest = kubernetes(&job, &travelling);
        for line in [
            "  name: magpie-my-sweep",
            "  sweep.toml: |2",
            "    [axes]",
            "      seed = [1, \"2\"]",
            "  completions: 12",
            "      terminationGracePeriodSeconds: 130",
            "        image: \"registry/magpie:1\"",
            "        args: [\"sweep\", \"/sweep/sweep.toml\", \"--out\", \"/data/My Sweep\", \"--shard\", \"auto/12\", \"--threads\", \
             \"16\"]",
            "            cpu: \"16\"",
            "            memory: 3Gi",
            "          claimName: \"results\"",
            "          mountPath: /sweep",
        ] {
            assert!(manifest.lines().any(|found| found == line), "{line}\n{manifest}");
        }
        let lying = kubernetes(&job, &Pods { sweep: None, ..travelling });
        assert!(!lying.contains("ConfigMap") && !lying.contains("mountPath: /sweep"), "{lying}");
        assert_eq!((label("--"), label(&"a".repeat(99)).len()), ("sweep".to_owned(), 40));
    }
}
