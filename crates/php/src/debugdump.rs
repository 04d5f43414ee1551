use crate::runtime::existing;
#[unsafe(no_mangle)]
pub extern "C" fn spindle_debug_dump() {
    let Some(rt) = existing() else { return };
    let core = rt.core.borrow();
    for co in core.coroutines() {
        let this = rt.object(co);
        unsafe {
            let info = (*this).info;
            eprintln!("#{} slot {} {:?} started {} cancelreq {} call {:?} fd {} spawn {} suspend {} failing {:?}", core.id(co), co.0, core.state(co), core.is_started(co), core.is_cancel_requested(co), info.call, info.fd,
              crate::coroutine::place((*this).spawn_file, (*this).spawn_line), crate::coroutine::place((*this).suspend_file, (*this).suspend_line), if (*this).ctx.is_null() { crate::stack::Failing::No } else { (*(*this).ctx).failing });
        }
    }
    eprintln!("{}", core.debug_text());
}
