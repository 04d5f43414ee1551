<?php
namespace Matrix;

check('gettext', static fn($_, int $n) => \gettext(text("text $n")), in: 'gettext');
check('_', static fn($_, int $n) => \_(text("text $n")), in: '_');
check('ngettext', static fn($_, int $n) => \ngettext(text('one'), text("$n"), $n), in: 'ngettext');
check('dgettext', static fn($_, int $n) => \dgettext(text('domain'), text("text $n")), in: 'dgettext');
check('dcngettext', static fn($_, int $n) => \dcngettext(text('domain'), text("text $n"), text('texts'), $n, LC_MESSAGES), in: 'dcngettext');
check('bindtextdomain', static fn($_, int $n) => \bindtextdomain(text("domain$n"), text('/tmp')), in: 'bindtextdomain');
check('textdomain', static fn($_, int $n) => \textdomain(text('messages')), in: 'textdomain');
