//! What becomes of the operators, form by form (SYN-1, SYN-2), and what is left alone (SYN-3).

use spindle_syntax::{Options, Start, Version, may_use, rewrite, rewrite_at_length};

const OPTIONS: Options = Options { version: Version::V8_2, short_tags: false, start: Start::Script };

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Operators that are far from one another are looked for in another way than those of a short text.
fn lengthened(source: &str) -> String {
    let rest = "\n/* … */ $a['b'] = \"c $d {$e->f}\"; // g\n".repeat(200);
    format!("{rest}{source}{rest}")
}

fn becomes(source: &str, expected: &str) {
    for (source, expected) in [(source, expected), (&lengthened(source), &lengthened(expected))] {
        let found = rewrite(source.as_bytes(), OPTIONS).unwrap_or_else(|error| panic!("{source}: {error}"));
        let found = found.unwrap_or_else(|| panic!("{source}: left alone"));
        assert_eq!(String::from_utf8_lossy(&found), expected, "of {source}");
        assert_eq!(lines(&found), lines(source.as_bytes()), "lines of {source}");
        assert_eq!(rewrite(&found, OPTIONS), Ok(None), "again: {expected}");
        assert_eq!(rewrite_at_length(source.as_bytes(), OPTIONS), Ok(Some(found)), "at length: {source}");
    }
}

fn stays(source: &str) {
    assert_eq!(rewrite(source.as_bytes(), OPTIONS), Ok(None), "{source}");
    assert_eq!(rewrite(lengthened(source).as_bytes(), OPTIONS), Ok(None), "{source}, lengthened");
}

#[test]
fn spawn_of_a_call() {
    becomes("spawn f();", r"\Async\Syntax\call(f(...))();");
    becomes("spawn f(1, $x);", r"\Async\Syntax\call(f(...))(1, $x);");
    becomes("$c = spawn $a->b()->c(...$d);", r"$c = \Async\Syntax\call($a->b()->c(...))(...$d);");
    becomes("spawn A::b(x: 1);", r"\Async\Syntax\call(A::b(...))(x: 1);");
    becomes(r"spawn \A\b();", r"\Async\Syntax\call(\A\b(...))();");
    becomes(r"spawn namespace\f();", r"\Async\Syntax\call(namespace\f(...))();");
    becomes("spawn static::f();", r"\Async\Syntax\call(static::f(...))();");
    becomes("spawn $f(1);", r"\Async\Syntax\call($f(...))(1);");
    becomes("spawn $$f();", r"\Async\Syntax\call($$f(...))();");
    becomes("spawn ${'f'}();", r"\Async\Syntax\call(${'f'}(...))();");
    becomes("spawn 'f'('x');", r"\Async\Syntax\call('f'(...))('x');");
    becomes("spawn \"f$x\"('x');", r#"\Async\Syntax\call("f$x"(...))('x');"#);
    becomes("spawn $a['k'](1);", r"\Async\Syntax\call($a['k'](...))(1);");
    becomes("spawn $a->{'b'}(1);", r"\Async\Syntax\call($a->{'b'}(...))(1);");
    becomes("spawn A::$f(1);", r"\Async\Syntax\call(A::$f(...))(1);");
    becomes("spawn f()(1);", r"\Async\Syntax\call(f()(...))(1);");
    becomes("spawn f (1) + 2;", r"\Async\Syntax\call(f (...))(1) + 2;");
    becomes("spawn\n  f( // why\n  1);", "\\Async\\Syntax\\call(\n  f(...))( // why\n  1);");
    becomes("spawn f(spawn g());", r"\Async\Syntax\call(f(...))(\Async\Syntax\call(g(...))());");
    becomes("spawn f(g(...));", r"\Async\Syntax\call(f(...))(g(...));");
}

/// Where expressions are listed, and where that only seems so.
#[test]
fn in_lists() {
    becomes("f(await $a, 'x;{' . await $b->c([1]));", r"f(\Async\await($a), 'x;{' . \Async\await($b->c([1])));");
    becomes(
        "f(await $a, $b ? await $c : await $d);",
        r"f(\Async\await($a), $b ? \Async\await($c) : \Async\await($d));",
    );
    becomes(
        "return ['a' => await $a, 'b' => $x ? spawn f(await $b) : 1, await $c];",
        r"return ['a' => \Async\await($a), 'b' => $x ? \Async\Syntax\call(f(...))(\Async\await($b)) : 1, \Async\await($c)];",
    );
    becomes(
        "spawn function { g(); } f(await $a, $b ? await $c : 1);",
        r"\Async\spawn(function() { g(); }); f(\Async\await($a), $b ? \Async\await($c) : 1);",
    );
    becomes("f(await $a until g(1, ')'), 2);", r"f(\Async\await($a, g(1, ')')), 2);");
    becomes("f(await $a->b(\"x{$c->d(')')}\"));", "f(\\Async\\await($a->b(\"x{$c->d(')')}\")));");
    becomes(r#"$s = "await {$a->b(1)}" . await $c;"#, r#"$s = "await {$a->b(1)}" . \Async\await($c);"#);
    becomes(r"if (await $a and await $b) { }", r"if (\Async\await($a) and \Async\await($b)) { }");
    becomes(
        r"f(spawn g(...$a), spawn g( ...$a ));",
        r"f(\Async\Syntax\call(g(...))(...$a), \Async\Syntax\call(g(...))( ...$a ));",
    );
    becomes(
        r"[$a => function(await $b, await $c) { await $d; }];",
        r"[$a => function(await $b, await $c) { \Async\await($d); }];",
    );
    for parameters in
        ["(await $a)", "(int $i, await $a)", "(A|B $i = [1, 2], await ...$a)", "(#[A(1)] await $a, await $b)"]
    {
        stays(&format!("function f{parameters} {{ }} suspended();"));
        stays(&format!("$f = ['k' => function {parameters} {{ }}];"));
        stays(&format!("$f = fn & {parameters} => 1;"));
        stays(&format!("class A {{ abstract function &list{parameters}; }}"));
    }
    stays("try { } catch (await $a) { }");
}

#[test]
fn spawn_of_a_nullsafe_call() {
    becomes("spawn $a?->b(1);", r"\Async\Syntax\call($a, fn($__callee) => $__callee->b(...))?->__invoke(1);");
    becomes("spawn $a?->b->c(1);", r"\Async\Syntax\call($a?->b, fn($__callee) => $__callee->c(...))?->__invoke(1);");
    becomes("spawn $a->b?->c(1);", r"\Async\Syntax\call($a->b, fn($__callee) => $__callee->c(...))?->__invoke(1);");
    becomes("spawn $a?->$b(1);", r"\Async\Syntax\call($a, fn($__callee) => $__callee->$b(...))?->__invoke(1);");
    becomes("spawn $a?->{'b'}(1);", r"\Async\Syntax\call($a, fn($__callee) => $__callee->{'b'}(...))?->__invoke(1);");
    becomes("spawn $a?->b[0](1);", r"\Async\Syntax\call($a?->b[0], fn($__callee) => $__callee(...))?->__invoke(1);");
    becomes("spawn $a?->b()(1);", r"\Async\Syntax\call($a?->b(), fn($__callee) => $__callee(...))?->__invoke(1);");
    becomes("spawn $a?->b::c(1);", r"\Async\Syntax\call($a?->b, fn($__callee) => $__callee::c(...))?->__invoke(1);");
    becomes("spawn $a?->list(1);", r"\Async\Syntax\call($a, fn($__callee) => $__callee->list(...))?->__invoke(1);");
}

#[test]
fn spawn_of_a_closure() {
    becomes("spawn function() { };", r"\Async\spawn(function() { });");
    becomes("spawn function { };", r"\Async\spawn(function() { });");
    becomes("spawn function & { };", r"\Async\spawn(function &() { });");
    becomes("spawn function use ($x) { };", r"\Async\spawn(function() use ($x) { });");
    becomes("spawn function: ?int { };", r"\Async\spawn(function(): ?int { });");
    becomes("spawn function use (&$x): A|\\B { };", "\\Async\\spawn(function() use (&$x): A|\\B { });");
    becomes("spawn function(int $x = 1) { };", r"\Async\spawn(function(int $x = 1) { });");
    becomes("spawn static function { };", r"\Async\spawn(static function() { });");
    becomes("spawn fn() => 1;", r"\Async\spawn(fn() => 1);");
    becomes("spawn static fn(): int => $x ? 1 : 2, 3;", r"\Async\spawn(static fn(): int => $x ? 1 : 2), 3;");
    becomes("spawn #[A(1)] fn() => 1;", r"\Async\spawn(#[A(1)] fn() => 1);");
    becomes("[spawn fn() => $a = $b ?? [1, 2], 3];", r"[\Async\spawn(fn() => $a = $b ?? [1, 2]), 3];");
    becomes("spawn fn() => f() and g();", r"\Async\spawn(fn() => f()) and g();");
    becomes("spawn fn() => throw f() and g();", r"\Async\spawn(fn() => throw f() and g());");
    becomes("spawn fn() => fn() => yield 1 => 2;", r"\Async\spawn(fn() => fn() => yield 1 => 2);");
    becomes("spawn fn() => match ($x) { 1 => 2 } + 3;", r"\Async\spawn(fn() => match ($x) { 1 => 2 } + 3);");
    becomes("spawn fn() => new class(1) extends A { };", r"\Async\spawn(fn() => new class(1) extends A { });");
    becomes("spawn fn() => <<<X\n  {$y}\n  X;", "\\Async\\spawn(fn() => <<<X\n  {$y}\n  X);");
}

#[test]
fn the_semicolon_after_a_closure() {
    becomes("spawn function { } f();", r"\Async\spawn(function() { }); f();");
    becomes("spawn function { }\n[$a] = b();", "\\Async\\spawn(function() { });\n[$a] = b();");
    becomes("spawn function { }\n(f)();", "\\Async\\spawn(function() { });\n(f)();");
    becomes("spawn function { }\n++$i;", "\\Async\\spawn(function() { });\n++$i;");
    becomes("spawn function { }", r"\Async\spawn(function() { });");
    becomes("$x = await spawn function { } $y;", r"$x = \Async\await(\Async\spawn(function() { })); $y;");
    becomes("if ($x) { spawn function { } } else f();", r"if ($x) { \Async\spawn(function() { }); } else f();");
    becomes("if ($x) spawn function { } else f();", r"if ($x) \Async\spawn(function() { }); else f();");
    becomes("$f = fn() => spawn function { } $x;", r"$f = fn() => \Async\spawn(function() { }); $x;");
    becomes("spawn function { spawn function { } }", r"\Async\spawn(function() { \Async\spawn(function() { }); });");
    becomes("f(spawn function { });", r"f(\Async\spawn(function() { }));");
    becomes("[spawn function { }, 1];", r"[\Async\spawn(function() { }), 1];");
    becomes("match (1) { 1 => spawn function { } };", r"match (1) { 1 => \Async\spawn(function() { }) };");
    becomes("spawn function { } . 'x';", r"\Async\spawn(function() { }) . 'x';");
    becomes("spawn function { } ?>", r"\Async\spawn(function() { }) ?>");
}

#[test]
fn await_binds_like_a_unary_operator() {
    becomes("await $a + 1;", r"\Async\await($a) + 1;");
    becomes("await $a ** 2;", r"\Async\await($a) ** 2;");
    becomes("await $a instanceof B;", r"\Async\await($a) instanceof B;");
    becomes("!await $a && await $b;", r"!\Async\await($a) && \Async\await($b);");
    becomes("await $a ? await $b : await $c;", r"\Async\await($a) ? \Async\await($b) : \Async\await($c);");
    becomes("await $a ?: 1;", r"\Async\await($a) ?: 1;");
    becomes("await $a?->b[1]->c()::D;", r"\Async\await($a?->b[1]->c()::D);");
    becomes("await await $a;", r"\Async\await(\Async\await($a));");
    becomes("await spawn f();", r"\Async\await(\Async\Syntax\call(f(...))());");
    becomes("await spawn fn() => 1;", r"\Async\await(\Async\spawn(fn() => 1));");
    becomes("await $a = spawn f();", r"\Async\await($a = \Async\Syntax\call(f(...))());");
    becomes("await new A(1);", r"\Async\await(new A(1));");
    becomes(
        "await new class { function f() { await $x; } };",
        r"\Async\await(new class { function f() { \Async\await($x); } });",
    );
    becomes("await (int) $a;", r"\Async\await((int) $a);");
    becomes("await static::f();", r"\Async\await(static::f());");
    becomes(
        "await match (await $a) { 1 => await $b };",
        r"\Async\await(match (\Async\await($a)) { 1 => \Async\await($b) });",
    );
    becomes("await \"x{$a}\" . 1;", r#"\Async\await("x{$a}") . 1;"#);
    becomes("await include 'a' . 'b';", r"\Async\await(include 'a' . 'b');");
    becomes("foreach (await $a as $b) { }", r"foreach (\Async\await($a) as $b) { }");
    becomes(
        "if (await $a) await $b; else await $c;",
        r"if (\Async\await($a)) \Async\await($b); else \Async\await($c);",
    );
    becomes("switch (1) { case await $a: break; }", r"switch (1) { case \Async\await($a): break; }");
    becomes("f(a: await $a);", r"f(a: \Async\await($a));");
    becomes("yield await $a => await $b;", r"yield \Async\await($a) => \Async\await($b);");
    becomes("await $a /* c */;", r"\Async\await($a) /* c */;");
}

#[test]
fn until_and_children() {
    becomes("await $a until $b;", r"\Async\await($a, $b);");
    becomes("await f() until timeout(5) . 'x';", r"\Async\await(f(), timeout(5)) . 'x';");
    becomes(
        "await spawn f() until spawn g();",
        r"\Async\await(\Async\Syntax\call(f(...))(), \Async\Syntax\call(g(...))());",
    );
    becomes("await spawn fn() => f() until $t;", r"\Async\await(\Async\spawn(fn() => f()), $t);");
    becomes("await await $a until $b until $c;", r"\Async\await(\Async\await($a, $b), $c);");
    becomes("await $a until function { };", r"\Async\await($a, function() { });");
    becomes("await children;", r"\Async\awaitChildren();");
    becomes("$x = [await spawned];", r"$x = [\Async\awaitChildren()];");
    becomes("await children until $t;", r"\Async\awaitChildren( $t);");
    becomes("await children();", r"\Async\await(children());");
    becomes("await children::X;", r"\Async\await(children::X);");
}

#[test]
fn suspend_as_a_statement() {
    becomes("suspend;", r"\Async\suspend();");
    becomes("f(); suspend;", r"f(); \Async\suspend();");
    becomes("if (f($x)) suspend; else suspend;", r"if (f($x)) \Async\suspend(); else \Async\suspend();");
    becomes("do suspend; while ($x);", r"do \Async\suspend(); while ($x);");
    becomes("while ($x): suspend; endwhile;", r"while ($x): \Async\suspend(); endwhile;");
    becomes("$x ? 1 : 2; a: suspend ?>", r"$x ? 1 : 2; a: \Async\suspend() ?>");
    stays("return suspend;");
    stays("$x = suspend;");
    stays("$x ? 1 : suspend;");
    stays("f() || suspend;");
    stays("const suspend = 1; suspend;");
    stays("use const A\\suspend; suspend;");
    stays("use const A\\{b, suspend}; suspend;");
    becomes("use const A\\suspend as s; suspend;", "use const A\\suspend as s; \\Async\\suspend();");
    becomes("class A { const suspend = 1; } suspend;", r"class A { const suspend = 1; } \Async\suspend();");
}

#[test]
fn closures_without_parentheses() {
    stays("f(function { });"); // none of the words is there, so nobody looks
    becomes("f(function { }); // spawn", "f(function() { }); // spawn");
    becomes("s->spawn(function { });", "s->spawn(function() { });");
    becomes("await: $x = function use ($y): int { };", "await: $x = function() use ($y): int { };");
    becomes("f(function: int { }, suspend());", "f(function(): int { }, suspend());");
    becomes("spawn(static function { }, function{});", "spawn(static function() { }, function(){});");
    stays("spawn(function: 1);");
    stays("spawn(function: $x ? [] : {});");
    stays("A::function ? 1 : spawn;");
    stays("class spawn { function use($x) { } function &list() { } const FUNCTION = 1; }");
}

/// The words are seen wherever they stand: at each end of what is looked at in one go, and at each end of the source.
#[test]
fn words_are_seen_anywhere() {
    for word in ["await $x;", "spawn f();", "suspend;"] {
        for before in 0..200 {
            for after in [0, 1, 5, 70] {
                let source = format!("{};{word}{}", " ".repeat(before), "/".repeat(after));
                assert!(may_use(source.as_bytes(), OPTIONS), "{source}");
            }
        }
    }
    for source in ["$x?1:await $y;", "f(a:await $x);", "fn()=>await $x;", "$a>await $b;", "1->spawn;await $x;"] {
        assert!(may_use(source.as_bytes(), OPTIONS), "{source}");
    }
    for source in [
        "$a->await;",
        "$a->await $x;",
        "A::spawn($x);",
        "$this->suspend;",
        "awaits $x; respawn $y; \\spawn $x;",
        "await($x);",
    ] {
        assert!(!may_use(source.as_bytes(), OPTIONS), "{source}");
    }
}

#[test]
fn names_stay_names() {
    for source in [
        "await; spawn;",
        "await($x); spawn ($x); suspend();",
        "await + 1; await - 1; await[0]; await & $x; await ** 2; await % 3;",
        "spawn::f(); await::X; new spawn; new await(1); $x instanceof await; suspend::class;",
        "$x->await; $x?->spawn(1); $x->await->spawn; A::spawn(); $x->suspend;",
        "function await($x) { } function &spawn() { } function suspend(): void { }",
        "function f(await $x, ?spawn $y, await|spawn|null &$z, await ...$rest): await { }",
        "fn(await $x, spawn &...$y): spawn => 1;",
        "$f = static function(spawn $x) use ($y): await { };",
        "class await extends spawn implements suspend { use children, until { a as spawn; spawn::b insteadof await; } }",
        "class A { public await $x; private ?spawn $y = null; static await $z, $w; readonly spawn $v; var await $u; }",
        "class A { const await X = 1, spawn = 2; final const spawn await = 3; }",
        "class A { public function __construct(private await $x, public readonly spawn $y = new spawn) { } }",
        "class A { public await $x { get => $this->x; set(spawn $v) { $this->x = $v; } } private(set) await $y; }",
        "abstract class A { abstract function spawn(await $x): spawn; abstract function await(): await; }",
        "interface spawn { function f(await $x); } trait await { } enum suspend: string { case spawn = 'x'; case await; }",
        "try { } catch (await $e) { } catch (spawn | await $e) { } catch (suspend) { }",
        "use spawn\\await as lib; use a\\{await, spawn as b}; use function a\\await; use const a\\{spawn};",
        "namespace await; namespace spawn { }",
        "goto await; await: spawn: f(); goto spawn;",
        "f(await: 1, spawn: await, suspend: suspend);",
        "#[spawn, await(1)] function f(#[await] int $x) { }",
        "echo \"await $x spawn f() {$x->await} ${await}\", 'await $x', <<<A\n await $x spawn f();\n A, <<<'B'\n await $x\n B;",
        "// await $x\n# spawn f();\n/* suspend; */ f(); ?> await $x; spawn f(); <?php g();",
        "$await = $spawn + $suspend; $$await; ${'await'};",
        "case await: $x ? await : spawn; match (1) { await => spawn, default => await };",
        "return await; yield spawn; print await; echo await, spawn; throw spawn;",
        "__halt_compiler(); await $x;",
    ] {
        stays(source);
    }
}

#[test]
fn code_is_code_wherever_it_stands() {
    becomes("\"a {$f(await $x)} b\";", r#""a {$f(\Async\await($x))} b";"#);
    becomes("`a {$f(await $x)} b`;", r"`a {$f(\Async\await($x))} b`;");
    becomes("<<<A\n {$f(await $x)} await $y\n A;", "<<<A\n {$f(\\Async\\await($x))} await $y\n A;");
    becomes("\"{$a[\"{$b(await $c)}\"]}\";", "\"{$a[\"{$b(\\Async\\await($c))}\"]}\";");
    becomes("function f($a = await $b) { }", r"function f($a = \Async\await($b)) { }");
    becomes(
        "class A { public $x = await $y; const X = await $z, Y = 1; }",
        r"class A { public $x = \Async\await($y); const X = \Async\await($z), Y = 1; }",
    );
    becomes(
        "class A { public int $x { get => await $y; set { await $z; } } }",
        r"class A { public int $x { get => \Async\await($y); set { \Async\await($z); } } }",
    );
    becomes("enum A: int { case B = await $x; }", r"enum A: int { case B = \Async\await($x); }");
    becomes("#[A(await $x)] function f() { }", r"#[A(\Async\await($x))] function f() { }");
    becomes(
        "$x->{await $y}; $x::{await $y}(); ${await $y};",
        r"$x->{\Async\await($y)}; $x::{\Async\await($y)}(); ${\Async\await($y)};",
    );
    becomes(
        "f(A::FN, (await $x), A::MATCH, function() { await $y; });",
        r"f(A::FN, (\Async\await($x)), A::MATCH, function() { \Async\await($y); });",
    );
    becomes("use function A\\await; f((await $x));", "use function A\\await; f((\\Async\\await($x)));");
    becomes("try { } catch (await $e) { await $e; }", r"try { } catch (await $e) { \Async\await($e); }");
    becomes("fn(await $x = 1) => await $x;", r"fn(await $x = 1) => \Async\await($x);");
}

/// What is broken is left to PHP, with what the operators have become so far.
#[test]
fn broken_sources() {
    for (source, expected) in [
        ("spawn f(1", r"\Async\Syntax\call(f(...))(1"),
        ("spawn f(1];", r"\Async\Syntax\call(f(...))(1];"),
        ("await f(1;", r"\Async\await(f(1;"),
        ("spawn function {", r"\Async\spawn(function() {"),
        ("await $x; } await $y;", r"\Async\await($x); } await $y;"),
    ] {
        let found = rewrite(source.as_bytes(), OPTIONS).expect("no error of ours").expect("it is rewritten");
        assert_eq!(String::from_utf8_lossy(&found), expected, "of {source}");
    }
    for source in ["$x = $y await $z;", "f() await $x;", "$x[1] spawn f();", "'a' await $b;"] {
        stays(source); // PHP names the word that is too much
    }
}

#[test]
fn what_makes_no_sense() {
    let wants = ": spawn expects a call or a closure";
    for (source, line, column, message) in [
        ("spawn 1 + 2;", 1, 7, format!("unexpected integer \"1\"{wants}")),
        ("\n\n spawn $x;", 3, 10, format!("unexpected token \";\"{wants}")),
        ("spawn f;", 1, 8, format!("unexpected token \";\"{wants}")),
        ("spawn $a->b;", 1, 12, format!("unexpected token \";\"{wants}")),
        ("spawn $a['x'];", 1, 14, format!("unexpected token \";\"{wants}")),
        ("spawn f(...);", 1, 13, format!("unexpected token \";\"{wants}")),
        ("spawn f()->x;", 1, 13, format!("unexpected token \";\"{wants}")),
        ("spawn new A();", 1, 7, format!("unexpected token \"new\"{wants}")),
        ("spawn spawn f();", 1, 7, format!("unexpected identifier \"spawn\"{wants}")),
        ("spawn await $x;", 1, 7, format!("unexpected identifier \"await\"{wants}")),
        ("spawn exit(1);", 1, 7, format!("unexpected token \"exit\"{wants}")),
        ("spawn include 'x';", 1, 7, format!("unexpected token \"include\"{wants}")),
        ("spawn !f();", 1, 7, format!("unexpected token \"!\"{wants}")),
        ("spawn static $x;", 1, 7, format!("unexpected token \"static\"{wants}")),
        ("spawn 'x';", 1, 10, format!("unexpected token \";\"{wants}")),
        ("spawn f", 1, 8, format!("unexpected end of file{wants}")),
        ("spawn function { }->x;", 1, 19, "unexpected token \"->\"".to_string()),
        ("await $x until;", 1, 15, "unexpected token \";\"".to_string()),
        ("await $x\n->;", 2, 3, "unexpected token \";\"".to_string()),
        ("await $x until $y->)", 1, 20, "unexpected token \")\"".to_string()),
        ("await !;", 1, 8, "unexpected token \";\"".to_string()),
        ("await new;", 1, 10, "unexpected token \";\"".to_string()),
        ("await fn() =>;", 1, 14, "unexpected token \";\"".to_string()),
        ("await $x = ;", 1, 12, "unexpected token \";\"".to_string()),
        ("\r\n\rawait $x until", 3, 15, "unexpected end of file".to_string()),
    ] {
        let error = rewrite(source.as_bytes(), OPTIONS).expect_err(source);
        assert_eq!(error.to_string(), format!("syntax error, {message}"), "of {source}");
        let position = error.position(source.as_bytes());
        assert_eq!((position.line, position.column), (line, column), "of {source}");
    }
}

/// `private(set)`, `(void)`, `|>` and comments in `yield from` are of later versions; the operators are in all.
#[test]
fn later_versions() {
    for version in [Version::V8_3, Version::V8_4, Version::V8_5] {
        let options = Options { version, ..OPTIONS };
        let source =
            b"class A { private(set) await $x; } yield /* c */ from $x; $x |> f(...); (void) f(); await (void);";
        let expected = r"class A { private(set) await $x; } yield /* c */ from $x; $x |> f(...); (void) f(); ";
        let found = rewrite(source, options);
        if version < Version::V8_5 {
            assert_eq!(found, Ok(None), "{version:?}");
        } else {
            let error = found.expect_err("a cast without its operand");
            assert_eq!(error.offset, source.len() - 1);
        }
        let source = [expected.as_bytes(), b"spawn fn() => $x | f(...);"].concat();
        let found = rewrite(&source, options).expect("fine").expect("it is rewritten");
        let expected = format!(r"{expected}\Async\spawn(fn() => $x | f(...));");
        assert_eq!(String::from_utf8_lossy(&found), expected, "{version:?}");
    }
}

/// What `new` makes may be called without parentheses around it.
#[test]
fn spawn_of_a_method_of_a_new_object() {
    let options = Options { version: Version::V8_4, ..OPTIONS };
    let call = r"\Async\Syntax\call(";
    for (source, expected) in [
        ("spawn new H()->bar();", "new H()->bar(...))();"),
        ("spawn new H(1, f(2))->bar(...$x);", "new H(1, f(2))->bar(...))(...$x);"),
        ("spawn new \\A\\H()->a->b()->c(1);", "new \\A\\H()->a->b()->c(...))(1);"),
        ("spawn new static()->bar();", "new static()->bar(...))();"),
        ("spawn new $a->b['c']()->bar();", "new $a->b['c']()->bar(...))();"),
        ("spawn new (f())()->bar();", "new (f())()->bar(...))();"),
        ("spawn new H()::bar();", "new H()::bar(...))();"),
        ("spawn new H()();", "new H()(...))();"),
        ("spawn new class(1) { function bar($x) {} }->bar(2);", "new class(1) { function bar($x) {} }->bar(...))(2);"),
        (
            "spawn new class extends H { public $x { get => f(); } }->bar();",
            "new class extends H { public $x { get => f(); } }->bar(...))();",
        ),
        ("await spawn new H()->bar(spawn new I()->f());", ""),
    ] {
        let expected = if expected.is_empty() {
            format!(r"\Async\await({call}new H()->bar(...))({call}new I()->f(...))()));")
        } else {
            format!("{call}{expected}")
        };
        for (source, expected) in [(source, &*expected), (&*lengthened(source), &*lengthened(&expected))] {
            let found = rewrite(source.as_bytes(), options).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(String::from_utf8_lossy(&found.expect("rewritten")), expected, "of {source}");
        }
        assert!(rewrite(source.as_bytes(), OPTIONS).is_err(), "8.2 has no such call: {source}");
    }
    for source in [
        "spawn new H();",
        "spawn new H;",
        "spawn new H()->bar;",
        "spawn new H->bar();",
        "spawn new class {};",
        "spawn new new H()->bar();",
    ] {
        let error = rewrite(source.as_bytes(), options).expect_err(source);
        assert_eq!(error.offset, if source.contains("new new") { 10 } else { 6 }, "{source}: {error}");
    }
}

#[test]
fn files_begin_outside() {
    let options = Options { start: Start::Html, ..OPTIONS };
    let file = |source: &str| {
        rewrite(source.as_bytes(), options).map(|text| text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    };
    assert_eq!(file("await $x; spawn f(); suspend;"), Ok(None));
    assert_eq!(
        file("<p>await <?= await $x ?> await <?php suspend ?>"),
        Ok(Some("<p>await <?= \\Async\\await($x) ?> await <?php \\Async\\suspend() ?>".into()))
    );
    assert_eq!(file("<? await $x;"), Ok(None));
    let braces = format!("<?php f(); ?>{}{{ ; }} <p><?php g(await $x ?? 1) ?>", " ".repeat(1000));
    assert_eq!(file(&braces), Ok(Some(braces.replace("await $x", r"\Async\await($x)"))));
    let short = Options { short_tags: true, ..options };
    assert_eq!(rewrite(b"<? await $x;", short), Ok(Some(br"<? \Async\await($x);".to_vec())));
}

/// Brackets as deep as they come, and long files: in linear time, on a small stack.
#[test]
fn deep_and_long() {
    let thread = std::thread::Builder::new().stack_size(64 * 1024).spawn(|| {
        for (open, close) in
            [("(", ")"), ("[", "]"), ("f(await ", ")"), ("fn() => spawn fn() => ", ""), ("spawn f(", ")")]
        {
            let n = 50_000;
            let source = format!("await {}$x{};", open.repeat(n), close.repeat(n));
            rewrite(source.as_bytes(), OPTIONS).expect("fine");
            rewrite(&source.as_bytes()[..source.len() / 2], OPTIONS).ok();
        }
    });
    thread.expect("it starts").join().expect("it ends well");
}

/// What stands around an operator is not looked at where it does not matter; here it does.
#[test]
fn what_is_around_an_operator() {
    becomes(
        "for ($i = 0; $i < 3; $i++) {\n if ($i) await $a;\n}",
        "for ($i = 0; $i < 3; $i++) {\n if ($i) \\Async\\await($a);\n}",
    );
    becomes("for (; $a < await $b; f(await $c)) { }", r"for (; $a < \Async\await($b); f(\Async\await($c))) { }");
    becomes("f(function() { g(); }, await $a);", r"f(function() { g(); }, \Async\await($a));");
    becomes(
        "[fn() => 1, await $a, function() { }, await $b];",
        r"[fn() => 1, \Async\await($a), function() { }, \Async\await($b)];",
    );
    becomes("$a = await $b + await $c;", r"$a = \Async\await($b) + \Async\await($c);");
    becomes(
        "switch ($a) { case 1: await $b; default: suspend; }",
        r"switch ($a) { case 1: \Async\await($b); default: \Async\suspend(); }",
    );
    becomes("return static::f(await $a);", r"return static::f(\Async\await($a));");
    becomes("static::f(await $a);", r"static::f(\Async\await($a));");
    becomes("static fn() => await $a;", r"static fn() => \Async\await($a);");
    becomes("$a = spawn function { }\n}", "$a = \\Async\\spawn(function() { });\n}");
    becomes("match ($a) { 1 => spawn function { } };", r"match ($a) { 1 => \Async\spawn(function() { }) };");
    becomes("use function A\\{await, suspend}; suspend;", "use function A\\{await, suspend}; \\Async\\suspend();");
    stays("use const A\\{b, suspend}; suspend;");
    stays("class A { private await $a; static spawn $b; function use($c) { } }");
    stays("class A { public int $a { get => 1; set(await $b) { } } }");
    stays("function f(await $a = 1, ?spawn $b = null) { }");
    stays("try { } catch (await $e) { }");
    stays("for ($i = 0; suspend; $i++) { }");
    stays("// await $a\n# spawn f()\n/* suspend; */ 'await $b'; <<<'A'\n spawn $c\n A;");
}
