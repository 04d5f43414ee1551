//! What /proc says about the system and about this process, whose limits and filters PHP inherits.

use serde::Serialize;
use std::fs;
use std::path::Path;

pub struct System {
    pub release: String,
    pub container: Option<String>,
    pub seccomp: bool,
    pub limits: Limits,
}

/// Limits; `None` is unknown or unlimited.
#[derive(Serialize)]
pub struct Limits {
    pub open_files: Option<u64>,
    pub open_files_hard: Option<u64>,
    pub processes: Option<u64>,
    pub address_space: Option<u64>,
    pub max_map_count: Option<u64>,
    pub epoll_watches: Option<u64>,
    /// Of the control group: processes and threads.
    pub tasks: Option<u64>,
    /// Of the control group, in bytes.
    pub memory: Option<u64>,
}

impl System {
    pub fn examine() -> System {
        let status = read("/proc/self/status");
        let seccomp = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
        System {
            release: read("/proc/sys/kernel/osrelease"),
            container: container(),
            seccomp: seccomp.is_some_and(|mode| mode.trim() == "2"),
            limits: limits(),
        }
    }
}

fn read(file: impl AsRef<Path>) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

fn container() -> Option<String> {
    let named = read("/run/systemd/container");
    let by_file = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let by_file = || by_file.iter().find(|(file, _)| Path::new(file).exists()).map(|(_, name)| (*name).to_owned());
    let by_variable = || std::env::var("KUBERNETES_SERVICE_HOST").is_ok().then(|| "kubernetes".to_owned());
    Some(named).filter(|name| !name.is_empty()).or_else(by_file).or_else(by_variable)
}

fn limits() -> Limits {
    let text = read("/proc/self/limits");
    let limit = |name: &str, column: usize| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(column)?.parse().ok()
    };
    let number = |file: &str| read(file).parse().ok();
    Limits {
        open_files: limit("Max open files", 0),
        open_files_hard: limit("Max open files", 1),
        processes: limit("Max processes", 0),
        address_space: limit("Max address space", 0),
        max_map_count: number("/proc/sys/vm/max_map_count"),
        epoll_watches: number("/proc/sys/fs/epoll/max_user_watches"),
        tasks: of_control_group("pids.max"),
        memory: of_control_group("memory.max"),
    }
}

/// Returns a limit of this process's control group or those above it, of the second version of these.
fn of_control_group(name: &str) -> Option<u64> {
    let group = read("/proc/self/cgroup");
    let path = group.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folders = Path::new("/sys/fs/cgroup").join(path);
    folders
        .ancestors()
        .take_while(|folder| folder.starts_with("/sys/fs/cgroup"))
        .filter_map(|folder| read(folder.join(name)).parse().ok())
        .min()
}
