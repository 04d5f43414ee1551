<?php

namespace App;

/** A guard that is not made from one of Laravel's. */
final class OtherGuard implements \Illuminate\Contracts\Auth\Guard
{
    use \Illuminate\Auth\GuardHelpers;

    public function user()
    {
        return $this->user;
    }

    public function validate(array $credentials = [])
    {
        return false;
    }
}
