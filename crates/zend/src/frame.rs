//! Frames: calls in progress.

use crate::{Array, Class, Function, Object, Str, Value, ValueCell, declare, globals, sys};
use std::{cell::Cell, ffi::c_void, mem::offset_of, ptr::NonNull, slice};

declare! {
    // The frame is of a call in progress.
    safe fn zend_get_called_scope(frame: Frame) -> Option<Class>;
    safe fn spindle_thrown_between(frame: Frame);
}

globals::cells! {
    /// Returns the cell of the innermost frame of the running code.
    current_frame: Cell<Option<Frame>> = current_execute_data;
}

/// The frame of a call that has not returned.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame(NonNull<sys::zend_execute_data>);

/// A class declaration, which is an instruction of PHP code.
#[derive(Clone, Copy)]
pub struct Declaration<'a> {
    /// The key by which the class is looked up: its lower-case name; the key of the declaration if it is anonymous.
    pub name: &'a Str,
    /// The key by which the declaration looks up the class.
    pub key: &'a Str,
    /// The lower-case name of the parent.
    pub parent: Option<&'a Str>,
}

/// The fields of `zend_execute_data` that are read, with the types that they have in frames of calls in progress: a
/// function that lasts as long as its call, the value `$this` with the flags of the call, and the caller, which returns
/// later.
#[repr(C)]
struct Fields {
    instruction: *const sys::zend_op,
    _callee: *mut sys::zend_execute_data,
    _result: *mut sys::zval,
    function: Option<Function>,
    this: Value,
    caller: Option<Frame>,
    _symbol_table: *mut sys::zend_array,
    _cache: *mut *mut c_void,
    named: *mut sys::zend_array,
}

const _: () = {
    assert!(offset_of!(Fields, function) == offset_of!(sys::zend_execute_data, func));
    assert!(offset_of!(Fields, this) == offset_of!(sys::zend_execute_data, This));
    assert!(offset_of!(Fields, caller) == offset_of!(sys::zend_execute_data, prev_execute_data));
    assert!(offset_of!(Fields, named) == offset_of!(sys::zend_execute_data, extra_named_params));
    assert!(size_of::<Fields>() == size_of::<sys::zend_execute_data>());
};

impl Frame {
    /// Returns the frame at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a call that has not returned as long as the result is used.
    #[inline(always)]
    pub unsafe fn from_raw(frame: *mut sys::zend_execute_data) -> Option<Frame> {
        NonNull::new(frame).map(Frame)
    }

    /// Returns the innermost frame of the running code.
    #[inline(always)]
    pub fn current() -> Option<Frame> {
        current_frame().get()
    }

    /// Makes this the innermost frame until it is set back. It must be a frame of the running code.
    pub fn set_current(frame: Frame) {
        current_frame().set(Some(frame));
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(self) -> *mut sys::zend_execute_data {
        self.0.as_ptr()
    }

    #[inline(always)]
    fn fields(&self) -> &Fields {
        // SAFETY: a call in progress has its frame, which has these fields.
        unsafe { self.0.cast::<Fields>().as_ref() }
    }

    /// Returns the function that was called.
    #[inline(always)]
    pub fn function(self) -> Option<Function> {
        self.fields().function
    }

    /// Returns the frame of the calling code.
    #[inline(always)]
    pub fn caller(self) -> Option<Frame> {
        self.fields().caller
    }

    /// Returns this frame and those that have called it, the innermost first.
    pub fn and_callers(self) -> impl Iterator<Item = Frame> {
        std::iter::successors(Some(self), |frame| frame.caller())
    }

    /// Makes this frame of an internal method the call of another internal method on another object, runs that, and makes the
    /// frame what it was. Arguments, result, `strict_types` and position are those of the call.
    ///
    /// # Safety
    /// `result` is the engine's place for the result of this call, which has not begun. The method belongs to the object's
    /// class and takes the arguments of the frame's function; the object is alive until it has returned.
    pub unsafe fn redirect(self, result: &ValueCell, object: &Object, method: Function) {
        let Some(handler) = method.internal().and_then(|method| method.handler) else { return };
        let frame = self.as_raw();
        // SAFETY: a call in progress has its frame.
        let function = unsafe { &raw mut (*frame).func };
        // SAFETY: as above; the object of a method's frame.
        let this = unsafe { &raw mut (*frame).This.value.obj };
        // SAFETY: as above.
        let (own_function, own_this) = (unsafe { function.read() }, unsafe { this.read() });
        // SAFETY: as above. The engine's reference to the frame's object stays where the frame was made.
        unsafe { function.write(method.as_raw()) };
        // SAFETY: as above.
        unsafe { this.write(object.as_raw()) };
        // SAFETY: the caller's promise.
        unsafe { handler(frame, result.as_raw()) };
        // SAFETY: as above.
        unsafe { function.write(own_function) };
        // SAFETY: as above.
        unsafe { this.write(own_this) };
    }

    /// Returns the flags of the call (`ZEND_CALL_…`).
    #[inline(always)]
    pub fn flags(self) -> u32 {
        self.this_value().type_info()
    }

    /// Returns the object whose method is called.
    #[inline(always)]
    pub fn this(&self) -> Option<&Object> {
        self.this_value().as_object()
    }

    #[inline(always)]
    fn this_value(&self) -> &Value {
        &self.fields().this
    }

    /// Returns the class whose method is called: `static` in that code.
    pub fn called_class(self) -> Option<Class> {
        zend_get_called_scope(self)
    }

    /// Returns the number of passed arguments.
    #[inline(always)]
    pub fn argument_count(self) -> u32 {
        self.this_value().word_behind()
    }

    /// Returns the named arguments that match no parameter.
    pub fn named_arguments(&self) -> Option<&Array> {
        if self.flags() & sys::ZEND_CALL_HAS_EXTRA_NAMED_PARAMS == 0 {
            return None;
        }
        // SAFETY: the flag says that the frame holds an array.
        unsafe { Array::borrow(self.fields().named) }
    }

    /// Returns the address after the frame, where its arguments and variables are.
    #[inline(always)]
    fn behind(self) -> *const Value {
        self.0.as_ptr().wrapping_add(1).cast()
    }

    /// Returns the arguments of a call of an internal function.
    #[inline(always)]
    pub fn arguments(&self) -> &[Value] {
        let first = self.behind();
        debug_assert!(first.addr().is_multiple_of(align_of::<Value>()));
        // SAFETY: they lie behind the frame, which holds them, as many as were passed.
        unsafe { slice::from_raw_parts(first, self.argument_count() as usize) }
    }

    /// Returns the values that the frame itself holds: the object whose method is called, and the variables of PHP code.
    pub fn held_values(&self) -> impl Iterator<Item = &Value> {
        let variables = self.function().and_then(|function| function.code().map(|code| code.last_var)).unwrap_or(0);
        // SAFETY: the variables of PHP code lie behind the frame, as many as the code has.
        let variables = unsafe { slice::from_raw_parts(self.behind(), variables.max(0) as usize) };
        std::iter::once(self.this_value()).chain(variables)
    }

    /// Returns the current instruction of PHP code.
    pub fn instruction(&self) -> Option<&sys::zend_op> {
        self.function()?.code()?;
        // SAFETY: null in a frame that has not begun, or an instruction of the code.
        unsafe { self.fields().instruction.as_ref() }
    }

    /// Completes a throw that has happened between two instructions of PHP code, at an interrupt of the engine, which takes the
    /// second one for begun: it would free what that one has not written, and not what it has not taken. Does nothing for frames
    /// of internal functions, and where the exception is not in flight in this frame.
    pub fn has_thrown_between(self) {
        spindle_thrown_between(self);
    }

    /// Returns the innermost frame of PHP code, from this one on.
    pub fn user_frame(self) -> Option<Frame> {
        self.and_callers().find(|frame| frame.function().is_some_and(Function::is_php_code))
    }

    /// Returns the file (if it has one) and the line of the innermost PHP code, from this one on.
    #[inline]
    pub fn position(&self) -> Option<(Option<&Str>, u32)> {
        let frame = self.user_frame()?;
        let mut instruction = frame.instruction()?;
        if u32::from(instruction.opcode) == sys::ZEND_HANDLE_EXCEPTION {
            // SAFETY: null, or the instruction that has thrown.
            let thrower = unsafe { globals::instruction_before().get().as_ref() };
            instruction = thrower.unwrap_or(instruction);
        }
        let function = frame.function()?;
        // SAFETY: null, or the name that the code has, which is being executed.
        let file = unsafe { Str::borrow(function.code()?.filename) };
        (instruction.lineno != 0).then_some((file, instruction.lineno))
    }

    /// Returns the declaration that the code is executing, if its current instruction is one.
    pub fn declaration(&self) -> Option<Declaration<'_>> {
        let instruction = self.instruction()?;
        let key_at = match u32::from(instruction.opcode) {
            sys::ZEND_DECLARE_CLASS | sys::ZEND_DECLARE_CLASS_DELAYED => 1,
            sys::ZEND_DECLARE_ANON_CLASS => 0,
            _ => return None,
        };
        // SAFETY: the operands of these instructions are constants; the key follows the name of a class.
        let constant = |operand, distance| unsafe { self.constant(operand, distance) }.as_str();
        let has_parent = u32::from(instruction.op2_type) == sys::IS_CONST;
        let parent = if has_parent { constant(instruction.op2, 0) } else { None };
        Some(Declaration { name: constant(instruction.op1, 0)?, key: constant(instruction.op1, key_at)?, parent })
    }

    /// Returns a constant of the code.
    ///
    /// # Safety
    /// `operand` is one of the current instruction of PHP code and a constant; `behind` more constants follow it.
    unsafe fn constant(&self, operand: sys::znode_op, behind: usize) -> &Value {
        // SAFETY: the member of operands that are constants: the distance in bytes.
        let distance = unsafe { operand.constant } as i32 as isize;
        let constant =
            self.fields().instruction.wrapping_byte_offset(distance).cast::<sys::zval>().wrapping_add(behind);
        // SAFETY: the caller's promise. Constants last as long as the code.
        unsafe { Value::borrow(constant) }.unwrap_or(const { &Value::UNDEF })
    }
}
