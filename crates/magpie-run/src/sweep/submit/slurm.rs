//! A job array of SLURM.

use std::path::Path;

use super::Job;

/// A script for `sbatch`, which starts `program` in each task.
pub fn slurm(job: &Job, program: &Path) -> String {
    let Job { name, tasks, each, .. } = job;
    let command: Vec<String> = std::iter::once(program.to_string_lossy().into_owned())
        .chain(job.arguments())
        .map(|word| quoted(&word))
        .collect();
    format!(
        r#"#!/bin/bash
# A sweep as a job array of SLURM, written by `magpie sweep submit`. Each of {tasks} tasks makes its shard of the runs. To make
# some tasks again: sbatch --array=3,7 FILE. Options of sbatch win over the lines below.
#
# A task that comes near its limit of time, or is preempted, saves its run and goes back into the queue; started again, it goes
# on where it was. So does a task whose node is lost, from its last checkpoint. Results do not depend on any of that.

#SBATCH --job-name={job_name}
#SBATCH --array=1-{tasks}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cores}
#SBATCH --mem={memory}G
#SBATCH --time={time}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
# Before the limit, to the program: time for the iteration under way and for saving.
#SBATCH --signal=TERM@{grace}

srun --cpus-per-task={cores} {command}
code=$?

# 130 is magpie's word for: stopped, and saved.
if [ "$code" -eq 130 ]; then
    scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit "$code"
"#,
        job_name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_', "-"),
        cores = each.cores,
        memory = each.memory,
        time = time(each.seconds),
        // SLURM takes no more.
        grace = each.grace.min(65_535),
        command = command.join(" "),
    )
}

/// `DAYS-HOURS:MINUTES:SECONDS`.
fn time(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("{days}-{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Request;
    use super::*;

    #[test]
    fn the_script_says_what_a_task_gets_and_does() {
        let job = Job {
            name: "my sweep".to_owned(),
            file: "/home/me/my sweep.toml".into(),
            out: "/scratch/it's".into(),
            tasks: 12,
            each: Request { cores: 16, memory: 3, seconds: 93_784, grace: 130 },
        };
        let script = slurm(&job, Path::new("/opt/magpie"));
        for line in [
            "#!/bin/bash",
            "#SBATCH --job-name=my-sweep",
            "#SBATCH --array=1-12",
            "#SBATCH --cpus-per-task=16",
            "#SBATCH --mem=3G",
            "#SBATCH --time=1-02:03:04",
            "#SBATCH --signal=TERM@130",
            r"srun --cpus-per-task=16 /opt/magpie sweep '/home/me/my sweep.toml' --out '/scratch/it'\''s' --shard auto/12 --threads 16",
        ] {
            assert!(script.lines().any(|found| found == line), "{line}\n{script}");
        }
    }
}
