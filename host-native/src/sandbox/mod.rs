//! t
#![allow(dead_code, missing_docs)]
mod linux; mod network; mod policy;
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lack {
    #[error("Landlock")] Landlock,
    #[error("{0}")] Filters(String),
    #[error("{0}")] Namespaces(String),
}
pub fn try_it() {
    let t = std::time::Instant::now();
    let (kernel, exits) = linux::Kernel::probe();
    println!("probe {:?} {:?} exits {}", t.elapsed(), kernel.lacks(), exits.is_some());
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cwd = std::env::current_dir().unwrap();
    let files = policy::Files { open: vec![cwd.clone()], guarded: vec![], read_only: vec![], closed: std::env::var("CLOSED").ok().map(|c| c.split(':').map(Into::into).collect()).unwrap_or_default() };
    let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let run = |confined: bool| {
        let t = std::time::Instant::now();
        let mut c = std::process::Command::new("bash"); c.arg("-c").arg(&args[0]);
        let s = confined.then(|| kernel.confine(&mut c, &files, &cwd, linux::Allowed{unix: network::UnixSockets::None, bind: false}).unwrap());
        let r = c.spawn();
        drop(c);
        match r { Ok(mut k) => { k.wait().unwrap(); } Err(e) => println!("{e} {:?}", s.and_then(linux::Started::failure)) }
        t.elapsed()
    };
    let mut a: Vec<_> = vec![]; let mut b: Vec<_> = vec![];
    for _ in 0..n { a.push(run(true)); if n > 1 { b.push(run(false)); } }
    a.sort(); b.sort();
    println!("confined {:?} bare {:?}", a[a.len()/2], b.get(b.len()/2));
}
