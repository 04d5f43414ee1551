//! The engine's global variables.

use crate::{Array, ValueCell, sys};
use std::{
    cell::{Cell, UnsafeCell},
    mem::offset_of,
};

/// A global variable of C, which only the PHP thread uses.
#[repr(transparent)]
pub struct Global<T>(UnsafeCell<T>);

impl<T> Global<T> {
    /// Calls `read`, which must not run other code, with the variable.
    #[inline(always)]
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: on the PHP thread, and nothing is written while it is borrowed.
        read(unsafe { &*self.0.get() })
    }

    /// Returns the address of the field at this offset.
    #[inline(always)]
    pub(crate) fn field<F>(&self, distance: usize) -> *mut F {
        self.0.get().wrapping_byte_add(distance).cast()
    }
}

// SAFETY: these variables have these types.
unsafe extern "C" {
    pub(crate) safe static executor_globals: Global<sys::zend_executor_globals>;
    safe static compiler_globals: Global<sys::zend_compiler_globals>;
    safe static core_globals: Global<sys::php_core_globals>;
    safe static sapi_globals: Global<sys::sapi_globals_struct>;
    safe static output_globals: Global<sys::zend_output_globals>;
    safe static basic_globals: Global<sys::php_basic_globals>;
    safe static file_globals: Global<sys::php_file_globals>;
}

macro_rules! globals {
    ($($(#[$attribute:meta])* $read:ident: $type:ident = $name:ident;)*) => {$(
        $(#[$attribute])*
        ///
        /// `read` must not run other code.
        #[inline(always)]
        pub fn $read<R>(read: impl FnOnce(&sys::$type) -> R) -> R {
            $name.read(read)
        }
    )*};
}

globals! {
    /// Gives access to `EG`, the state of the executor.
    executor: zend_executor_globals = executor_globals;
    /// Gives access to `CG`, the state of the compiler.
    compiler: zend_compiler_globals = compiler_globals;
    /// Gives access to `PG`, the settings and the state of PHP's core.
    core: php_core_globals = core_globals;
    /// Gives access to `OG`, the state of output buffers.
    output: zend_output_globals = output_globals;
    /// Gives access to `BG`, the state of standard functions.
    basic: php_basic_globals = basic_globals;
    /// Gives access to `SG`, the state of the SAPI.
    server: sapi_globals_struct = sapi_globals;
    /// Gives access to `FG`, the state of file functions.
    file: php_file_globals = file_globals;
}

/// Defines functions that return fields of `EG` as cells. These have the representation of the fields' types, and express what the
/// engine keeps there.
macro_rules! cells {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident: $cell:ty = $field:ident;)*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        $visibility fn $name() -> &'static $cell {
            let distance = std::mem::offset_of!($crate::sys::zend_executor_globals, $field);
            let field = $crate::globals::executor_globals.field::<$cell>(distance);
            // SAFETY: a field of a variable that lasts as long as the process, of a type as above.
            unsafe { &*field }
        }
    )*};
}

pub(crate) use cells;

cells! {
    /// Returns the cell of the instruction that was to be executed when the exception in flight was thrown.
    pub(crate) instruction_before: Cell<*const sys::zend_op> = opline_before_exception;
    /// Returns the levels of errors that are reported (`E_…`).
    pub(crate) error_reporting: Cell<i32> = error_reporting;
    /// Returns the cell of the handler of `set_exception_handler()`.
    pub user_exception_handler: ValueCell = user_exception_handler;
    /// Returns the status with which the process exits.
    pub exit_status: Cell<i32> = exit_status;
}

/// A table of the engine.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// Classes, by their names in lower case.
    Classes,
    /// Functions without methods, by their names in lower case.
    Functions,
    /// Loaded extensions, by their names in lower case.
    Extensions,
    /// Ini settings, by their names.
    Settings,
    /// The resources of the request, by their numbers.
    Resources,
    /// Global variables, by their names.
    Variables,
}

impl Table {
    /// Returns the table.
    pub fn get(self) -> &'static Array {
        let table = match self {
            Table::Classes => compiler(|cg| cg.class_table), // also there while modules start
            Table::Functions => compiler(|cg| cg.function_table), // as well
            Table::Settings => executor(|eg| eg.ini_directives),
            Table::Extensions => &raw mut sys::module_registry,
            Table::Resources => executor_globals.field(offset_of!(sys::zend_executor_globals, regular_list)),
            Table::Variables => executor_globals.field(offset_of!(sys::zend_executor_globals, symbol_table)),
        };
        // SAFETY: these tables are there while modules start and requests run.
        unsafe { Array::borrow(table) }.expect("the engine has its tables")
    }
}
