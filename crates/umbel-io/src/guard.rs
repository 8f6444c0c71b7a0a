//! Calling code of others that panics on damaged data.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is expected, and is to be no more than an error.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a closure; a panic in it becomes an error and prints nothing. What the closure was changing is not to be used after
/// that.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                usual(panic);
            }
        }));
    });
    EXPECTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    EXPECTED.set(false);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        text.unwrap_or_default().lines().next().unwrap_or("it is damaged").into()
    })
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| 1), Ok(1));
        let index = std::hint::black_box(7);
        assert_eq!(
            guarded(|| [1, 2, 3][index]),
            Err("index out of bounds: the len is 3 but the index is 7".into())
        );
        assert_eq!(guarded(|| -> u8 { panic!("no") }), Err("no".into()));
    }
}
