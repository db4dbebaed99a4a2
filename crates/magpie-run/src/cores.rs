//! The cores that this process may use: those of its affinity mask and of the quota of its container, not all of the machine.

use std::fs;
use std::thread::available_parallelism;

/// The number of threads that makes sense here: one for each core that the process may use, and no more than SLURM has given
/// the task. `RAYON_NUM_THREADS`, which programs of this kind commonly obey, wins.
pub fn usual_threads(variable: impl Fn(&str) -> Option<String>) -> usize {
    if let Some(threads) = variable("RAYON_NUM_THREADS").and_then(|text| text.parse().ok()).filter(|&n| n > 0)
    {
        return threads;
    }
    let usable = usable();
    of_slurm(&variable).map_or(usable, |given| given.min(usable)).max(1)
}

/// What is worth knowing of so many threads on these cores, in sentences: above all, that whoever started the process has bound
/// it to fewer cores than the machine has.
pub fn remarks(threads: usize, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let Some(online) = online() else { return Vec::new() };
    remark(threads, usable(), online, variable).into_iter().collect()
}

/// Cores that affinity mask and quota leave to this process.
fn usable() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Cores of the machine, where Linux says so.
fn online() -> Option<usize> {
    cores_in(&fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// The number of cores in a list such as `0-3,8`.
fn cores_in(list: &str) -> Option<usize> {
    let of = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.trim().split(',').map(of).sum()
}

/// What SLURM has given each task of this job.
fn of_slurm(variable: &impl Fn(&str) -> Option<String>) -> Option<usize> {
    variable("SLURM_CPUS_PER_TASK")?.parse().ok()
}

/// Set by those that start the ranks of MPI: Open MPI, MPICH and others by PMI.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

fn remark(
    threads: usize,
    usable: usize,
    online: usize,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if usable >= online {
        return None;
    }
    let bound = format!("this process is bound to {usable} of the {online} cores of the machine");
    match of_slurm(&variable) {
        Some(given) if given > usable => {
            return Some(format!(
                "{bound}, though SLURM has given the task {given}; start it with srun --cpus-per-task={given}"
            ));
        }
        _ => {}
    }
    if threads > usable {
        return Some(format!("{bound}, which its {threads} threads share"));
    }
    if usable == 1 && RANKS.iter().any(|name| variable(name).is_some()) {
        return Some(format!(
            "{bound} by what started it, and uses one thread; mpirun --bind-to none, or a binding to more cores, gives it the others"
        ));
    }
    Some(format!("{bound} and uses {threads}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        for (list, cores) in
            [("0\n", Some(1)), ("0-3\n", Some(4)), ("0-3,8,10-11", Some(7)), ("", None), ("3-1", None)]
        {
            assert_eq!(cores_in(list), cores, "{list:?}");
        }
    }

    #[test]
    fn a_process_that_was_bound_is_told_so_and_what_to_do() {
        let of = |threads, usable, online, set: &[(&str, &str)]| {
            let set: Vec<(String, String)> =
                set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            remark(threads, usable, online, |name| {
                set.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
            })
        };
        assert_eq!(of(8, 8, 8, &[("OMPI_COMM_WORLD_SIZE", "2")]), None);
        assert_eq!(of(16, 8, 8, &[]), None, "more threads than cores may be meant");
        for (threads, usable, set, said) in [
            (2, 2, &[][..], "bound to 2 of the 8 cores of the machine and uses 2"),
            (8, 2, &[], "bound to 2 of the 8 cores of the machine, which its 8 threads share"),
            (1, 1, &[("OMPI_COMM_WORLD_SIZE", "2")], "mpirun --bind-to none"),
            (1, 1, &[("PMI_SIZE", "2")], "mpirun --bind-to none"),
            (
                1,
                1,
                &[("SLURM_CPUS_PER_TASK", "4")],
                "SLURM has given the task 4; start it with srun --cpus-per-task=4",
            ),
            (4, 4, &[("SLURM_CPUS_PER_TASK", "4")], "and uses 4"),
        ] {
            let remark = of(threads, usable, 8, set).unwrap();
            assert!(remark.contains(said), "{remark}");
        }
    }

    #[test]
    fn no_more_threads_than_slurm_has_given() {
        let of = |key: &str, value: &str| usual_threads(|name| (name == key).then(|| value.to_owned()));
        for (key, value, expected) in [
            ("", "", usable()),
            ("SLURM_CPUS_PER_TASK", "1", 1),
            ("SLURM_CPUS_PER_TASK", "100000", usable()),
            ("SLURM_CPUS_PER_TASK", "some", usable()),
            ("RAYON_NUM_THREADS", "77", 77),
            ("RAYON_NUM_THREADS", "0", usable()),
        ] {
            assert_eq!(of(key, value), expected, "{key} {value}");
        }
    }
}
