<?php

use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\Schema;

return new class extends Migration {
    public function up(): void
    {
        Schema::create('notes', static function (Blueprint $table): void {
            $table->increments('id');
            $table->string('of');
            $table->string('text');
        });
        Schema::create('users', static function (Blueprint $table): void {
            $table->increments('id');
            $table->string('name')->unique();
            $table->string('password');
            $table->rememberToken();
        });
        Schema::create('jobs', static function (Blueprint $table): void {
            $table->bigIncrements('id');
            $table->string('queue')->index();
            $table->longText('payload');
            $table->unsignedTinyInteger('attempts');
            $table->unsignedInteger('reserved_at')->nullable();
            $table->unsignedInteger('available_at');
            $table->unsignedInteger('created_at');
        });
        Schema::create('handled', static function (Blueprint $table): void {
            $table->increments('id');
            $table->integer('number');
            $table->double('began');
            $table->double('ended');
            $table->integer('pid');
            $table->boolean('alone');
        });
        Schema::create('failed_jobs', static function (Blueprint $table): void {
            $table->id();
            $table->string('uuid')->unique();
            $table->text('connection');
            $table->text('queue');
            $table->longText('payload');
            $table->longText('exception');
            $table->timestamp('failed_at')->useCurrent();
        });
        for ($n = 0; $n < 32; $n++) {
            App\User::create(['name' => "user$n", 'password' => Illuminate\Support\Facades\Hash::make("secret$n")]);
        }
    }
};
