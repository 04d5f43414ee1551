<?php

namespace App;

use Illuminate\Database\Eloquent\Model;

final class Note extends Model
{
    public $timestamps = false;
    protected $guarded = [];
    /** @var array<string, int> */
    public static array $created = [];

    protected static function booted(): void
    {
        static::created(static function (self $note): void {
            self::$created[$note->of] = (self::$created[$note->of] ?? 0) + 1;
        });
    }
}
