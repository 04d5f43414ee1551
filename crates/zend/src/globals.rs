//! The engine's global variables.

use crate::sys;

macro_rules! globals {
    ($($(#[$attribute:meta])* $read:ident, $write:ident: $type:ident = $name:ident;)*) => {$(
        $(#[$attribute])*
        ///
        /// `read` runs no other code than its own.
        #[inline(always)]
        pub fn $read<R>(read: impl FnOnce(&sys::$type) -> R) -> R {
            let globals = &raw const sys::$name;
            // SAFETY: on the PHP thread, and nobody writes there meanwhile.
            read(unsafe { &*globals })
        }

        $(#[$attribute])*
        ///
        /// # Safety
        /// No other code runs while it is borrowed. What is written is as the engine needs it.
        #[inline(always)]
        pub unsafe fn $write<'a>() -> &'a mut sys::$type {
            let globals = &raw mut sys::$name;
            // SAFETY: on the PHP thread, and the caller's promise.
            unsafe { &mut *globals }
        }
    )*};
}

globals! {
    /// Gives access to `EG`, the state of the executor.
    executor, executor_mut: zend_executor_globals = executor_globals;
    /// Gives access to `CG`, the state of the compiler.
    compiler, compiler_mut: zend_compiler_globals = compiler_globals;
    /// Gives access to `PG`, the settings and the state of PHP's core.
    core, core_mut: php_core_globals = core_globals;
    /// Gives access to `OG`, the state of output buffers.
    output, output_mut: zend_output_globals = output_globals;
    /// Gives access to `BG`, the state of the standard functions.
    basic, basic_mut: php_basic_globals = basic_globals;
    /// Gives access to `FG`, the state of the functions for files.
    file, file_mut: php_file_globals = file_globals;
}
