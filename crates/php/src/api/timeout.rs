//! The methods of `Async\Timeout`.

use crate::runtime::{scheduler, timeout};
use crate::zend::zv;
use spindle_php_sys as sys;

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Timeout___construct(_: *mut sys::zend_execute_data, _: *mut sys::zval) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Timeout_isCompleted(execute_data: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            let target = timeout::target((*execute_data).This.value.obj);
            zv::set_bool(result, target.is_some_and(|target| scheduler::core(|core| core.is_done(target))));
        }
    }
}
