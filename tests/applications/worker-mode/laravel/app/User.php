<?php

namespace App;

final class User extends \Illuminate\Foundation\Auth\User
{
    public $timestamps = false;
    protected $fillable = ['name', 'password'];
    protected $hidden = ['password'];
}
