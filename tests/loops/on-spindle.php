<?php

/** Has a suite run on the package's loop or driver, where Spindle is loaded. On stock PHP it runs on stream_select(). */

declare(strict_types=1);

if (getenv('SPINDLE_WAY') !== 'stock') {
    if (class_exists(React\EventLoop\Loop::class)) {
        React\EventLoop\Loop::set(new Spindle\React\SpindleLoop());
    }
    if (class_exists(Revolt\EventLoop::class)) {
        Revolt\EventLoop::setDriver(new Spindle\Revolt\SpindleDriver());
    }
}
