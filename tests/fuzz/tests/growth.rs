//! Every family of inputs that grow, on a small stack: nothing overflows it, and nothing takes much longer for twice as much.
//!
//! What takes longer is not seen by a clock. Each target looks at a long input; whoever looks at all of it again for every
//! byte would be at it for hours, and the test command gives up before. And what is allocated on the way is counted: it may
//! grow as the input grows, and no faster.
#![allow(clippy::unwrap_used)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    thread,
};

use windlass_fuzz::{GROWTHS, Growth, run};

/// A stack on which a recursion of some thousand calls shows.
const STACK: usize = 1 << 20;

/// Bytes of the longest inputs.
const LONG: usize = 1 << 20;

/// Bytes of what is counted: this, and twice as much.
const COUNTED: usize = 64 << 10;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// The system's, counting bytes by thread.
struct Counting;

// SAFETY: everything is handed on to the system's allocator as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends counts no more.
        let _ = ALLOCATED.try_with(|count| count.set(count.get() + layout.size()));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that were allocated while a target looked at an input.
fn allocated(growth: Growth, bytes: usize) -> usize {
    let thread = thread::Builder::new().stack_size(STACK);
    let looking = thread.spawn(move || {
        let input = growth.input(bytes);
        let before = ALLOCATED.get();
        run(growth.target, &input);
        ALLOCATED.get() - before
    });
    let looked = looking.unwrap().join();
    looked.unwrap_or_else(|_| panic!("{}: {} of {bytes} bytes", growth.target, growth.name))
}

fn grows_no_faster_than_its_input(target: &str) {
    let growths = GROWTHS.iter().filter(|growth| growth.target == target);
    let mut count = 0;
    for growth in growths {
        count += 1;
        let (once, twice) = (allocated(*growth, COUNTED), allocated(*growth, 2 * COUNTED));
        // Twice as much, and what a buffer that doubles has in reserve.
        assert!(
            twice <= 3 * once + COUNTED,
            "{target}, {}: {once} bytes allocated for {COUNTED}, {twice} for twice as much",
            growth.name
        );
        allocated(*growth, LONG);
    }
    assert!(count > 0, "no inputs grow for {target}");
    eprintln!("tried: {count} kinds of inputs that grow");
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            grows_no_faster_than_its_input(stringify!($name));
        })*
    };
}

targets! {
    sse json json_blocks rules shell hook_outputs snapshots journals agents patterns schemas frontmatter settings protocol
    transcripts memory mcp_results
}
