//! The system calls that confined programs are refused: those that could undo the confinement, or that reach parts of
//! the kernel that nothing else checks.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::super::network::UnixSockets;

/// Newer calls, whose numbers are the same on all architectures.
const QUOTACTL_FD: i64 = 443;
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that no confined program needs: mounts, namespaces, other processes, the kernel itself.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    OPEN_TREE_ATTR,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_fanotify_init,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Calls that fail as not implemented (`ENOSYS`), so that libraries fall back to the older one, whose arguments a
/// filter can read. io_uring would perform operations in the kernel that no filter sees.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The flags of `clone` and `unshare` that create namespaces.
const NEW_NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];

/// `TIOCSTI` and `TIOCLINUX`, which write into the input of a terminal.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541c];

/// The bit in system call numbers on x86-64 that selects the x32 table.
const OTHER_TABLE: u32 = 0x4000_0000;

/// What the filters allow in addition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sockets {
    /// Which Unix sockets in the file system can be reached.
    pub(super) unix: UnixSockets,
    /// Whether programs may listen for connections.
    pub(super) listen: bool,
    /// Whether there is a network.
    pub(super) internet: bool,
}

/// The filters, in the order in which they are applied.
///
/// # Errors
/// The architecture is not supported.
pub(super) fn filters(sockets: Sockets) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut refused: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    refused.extend(
        [
            libc::SYS_kexec_file_load,
            libc::SYS_iopl,
            libc::SYS_ioperm,
            libc::SYS_modify_ldt,
            libc::SYS_uselib,
        ]
        .map(|call| (call, Vec::new())),
    );
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let flags = NEW_NAMESPACES.iter().map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            all(vec![(0, SeccompCmpOp::MaskedEq(flag), flag)])
        });
        refused.insert(call, flags.collect::<Result<_, _>>()?);
    }
    // A process may set its own limits. Setting those of another process of the same user could stop it.
    let other_process = all(vec![(0, SeccompCmpOp::Ne, 0)])?;
    refused.insert(libc::SYS_prlimit64, vec![other_process]);
    let terminal = TERMINAL_INPUT.map(|request| all(vec![(1, SeccompCmpOp::Eq, request)]));
    refused.insert(
        libc::SYS_ioctl,
        terminal.into_iter().collect::<Result<_, _>>()?,
    );
    refused.insert(libc::SYS_socket, vec![all(other_families(sockets))?]);
    if !matches!(sockets.unix, UnixSockets::All | UnixSockets::Some) {
        // A datagram socket pair can send to any address; stream and seqpacket pairs cannot.
        let datagrams = all(vec![(
            1,
            SeccompCmpOp::MaskedEq(0xf),
            libc::SOCK_DGRAM.cast_unsigned().into(),
        )])?;
        refused.insert(libc::SYS_socketpair, vec![datagrams]);
    }
    if !sockets.listen {
        refused.insert(libc::SYS_listen, Vec::new());
    }
    let absent = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    Ok(vec![
        compiled(refused, libc::EPERM, arch)?,
        compiled(absent, libc::ENOSYS, arch)?,
    ])
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A rule whose conditions must all hold: argument index, comparison, value.
fn all(conditions: Vec<(u8, SeccompCmpOp, u64)>) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions
        .into_iter()
        .map(|(argument, how, value)| SeccompCondition::new(argument, Dword, how, value));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// Matches when the first argument is not one of the allowed socket families. Others (vsock, Bluetooth, kernel
/// crypto) are not bound to a network namespace.
fn other_families(sockets: Sockets) -> Vec<(u8, SeccompCmpOp, u64)> {
    // Programs query a machine's addresses over netlink before they connect.
    let mut families = vec![libc::AF_NETLINK];
    if sockets.internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if sockets.unix != UnixSockets::None {
        families.push(libc::AF_UNIX);
    }
    let other = |family: i32| (0, SeccompCmpOp::Ne, family.cast_unsigned().into());
    families.into_iter().map(other).collect()
}

fn compiled(rules: Rules, errno: i32, arch: TargetArch) -> Result<BpfProgram, seccompiler::Error> {
    let action = SeccompAction::Errno(errno.cast_unsigned());
    // A program of another architecture is killed, since its system call numbers differ.
    let filter = SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        action,
        arch,
    )?;
    let filter: BpfProgram = filter.try_into()?;
    Ok(if cfg!(target_arch = "x86_64") {
        without_other_table(filter)
    } else {
        filter
    })
}

/// Prepends instructions that refuse x32 calls: they have the same architecture but other numbers.
fn without_other_table(filter: BpfProgram) -> BpfProgram {
    let instruction = |code: u32, jt, jf, k| sock_filter {
        // Instruction codes have 16 bits.
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf,
        k,
    };
    // The system call number is the first word of the filter's input.
    let load = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let test = instruction(
        libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
        0,
        1,
        OTHER_TABLE,
    );
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let end = instruction(libc::BPF_RET | libc::BPF_K, 0, 0, refuse);
    [load, test, end].into_iter().chain(filter).collect()
}
