<?php

use App\{Note, User};
use App\Jobs\Remember;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\{App, Auth, Cookie, DB, Queue, Route, Session, View};

Route::get('/', function (Request $request) {
    $first = [$request->query('n'), request('n'), App::make('request')->query('n')];
    pause();
    return response()->json([...$first, request('n'), url('/there'), route('hello', ['name' => request('n')])]);
});
Route::get('/hello/{name}', fn (string $name) => pause() ?? "hello $name, " . request()->header('X-N'))->name('hello');
Route::get('/server', fn (Request $request) => [$request->getBaseUrl(), $request->getPathInfo(), $request->fullUrl(), $request->server('SCRIPT_NAME'),
    basename($request->server('SCRIPT_FILENAME')), basename($request->server('DOCUMENT_ROOT')), App::runningInConsole(), basename(getcwd())]);
Route::get('/count', function () {
    Session::put('count', Session::get('count', 0) + 1);
    pause();
    return session('count') . ' for ' . request('n');
});
Route::get('/notes/{of}', function (string $of) {
    $before = Note::$created[$of] ?? 0;
    Note::create(['of' => $of, 'text' => "one of $of"]);
    pause();
    Note::query()->insert([['of' => $of, 'text' => 'two'], ['of' => $of, 'text' => 'three']]);
    pause();
    $found = Note::where('of', $of)->orderBy('id')->pluck('text');
    Note::where('of', $of)->delete();
    return $found->join(', ') . ' ' . Note::$created[$of] - $before . ' ' . Note::where('of', $of)->count();
});
Route::get('/transaction/{of}', function (string $of) {
    $seen = [];
    try {
        DB::transaction(function () use ($of, &$seen): void {
            DB::table('notes')->insert(['of' => $of, 'text' => 'never']);
            pause();
            $seen[] = DB::transactionLevel() . DB::table('notes')->where('of', $of)->count();
            throw new DomainException('rolled back');
        });
    } catch (DomainException $thrown) {
        $seen[] = $thrown->getMessage();
    }
    pause();
    DB::transaction(fn () => pause() ?? DB::table('notes')->insert(['of' => $of, 'text' => 'kept']));
    $seen[] = DB::transactionLevel() . DB::table('notes')->where('of', $of)->count();
    DB::table('notes')->where('of', $of)->delete();
    return $seen;
});
Route::get('/open/{of}', function (string $of) {
    $seen = DB::transactionLevel() . DB::table('notes')->where('of', "open $of")->count();
    DB::beginTransaction();
    DB::table('notes')->insert(['of' => "open $of", 'text' => 'never']);
    pause();
    return $seen . DB::table('notes')->where('of', "open $of")->count();
});
Route::get('/view/{of}', function (string $of) {
    View::share('shared', $of);
    pause();
    return view('note', ['of' => $of, 'list' => [1, 2, $of]]);
});
Route::get('/queued/{of}', function (string $of) {
    dispatch(new Remember($of));
    $handled = Remember::$handled;
    pause();
    Queue::connection('database')->pushOn($of, new Remember($of));
    $waiting = DB::table('jobs')->where('queue', $of)->count();
    DB::table('jobs')->where('queue', $of)->delete();
    return "$handled " . Remember::$handled . " $waiting";
});
Route::get('/after/{of}', function (string $of) {
    app()->terminating(static fn () => pause() ?? Note::create(['of' => "after $of", 'text' => 'later']));
    return Note::where('of', "after $of")->count();
});
Route::get('/later/{of}', function (string $of) {
    while (Note::where('of', "after $of")->delete() === 0) {
        pause();
    }
    return 'has come';
});
Route::get('/form', fn () => pause() ?? '<input name="token" value="' . csrf_token() . '"> ' . json_encode(session('errors')?->all()));
Route::post('/form', function (Request $request) {
    pause();
    return $request->validate(['text' => 'required|string']);
});
Route::post('/login', function (Request $request) {
    $known = Auth::attempt($request->only('name', 'password'));
    pause();
    $known && $request->session()->regenerate();
    return [$known, Auth::user()?->name];
});
Route::get('/account', fn () => pause() ?? [Auth::id(), Auth::user()?->name, Auth::check()]);
Route::get('/logout', function (Request $request) {
    Auth::logout();
    $request->session()->invalidate();
    return pause() ?? [Auth::check()];
});
Route::get('/basic', fn () => pause() ?? Auth::user()->name)->middleware('auth.basic:web,name');
Route::get('/words/{locale}', function (string $locale) {
    App::setLocale($locale);
    pause();
    return __('words.hello') . ' ' . App::getLocale() . ' ' . now()->locale();
});
Route::get('/locale', fn () => __('words.hello') . ' ' . App::getLocale() . ' ' . now()->locale());
Route::get('/cookies', function () {
    Cookie::queue('queued', request('n'), 0);
    return pause() ?? response(request()->cookie('queued', 'none'));
});
Route::post('/upload', fn (Request $request) => pause() ?? [$request->input('f'), $request->file('one')->getClientOriginalName(), $request->file('one')->isValid(),
    md5($request->file('one')->get()), $request->file('one')->store('uploads/' . $request->input('f')) !== false]);
Route::get('/fails', fn () => pause() ?? throw new LogicException('fails for ' . request('n')));
Route::get('/missing/{of}', fn (string $of) => pause() ?? abort(404, "no $of"));
Route::get('/stream', fn () => response()->stream(static function (): void {
    echo 'streamed for ';
    pause();
    echo request('n');
}));
Route::get('/left/{of}', function (string $of): never {
    header('X-Left: yes');
    echo "left by $of";
    pause();
    exit;
});
Route::get('/dumped/{of}', fn (string $of) => pause() ?? dd("dumped by $of"));
