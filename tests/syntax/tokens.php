<?php
// For each file named on stdin: its tokens as PHP itself sees them. Of each file the number of tokens, then of each token
// its length and its class, all 32 bits wide.
ini_set('memory_limit', '-1');
$classes = [
    'T_STRING' => 'N', 'T_NAME_QUALIFIED' => 'Q', 'T_NAME_FULLY_QUALIFIED' => 'F', 'T_NAME_RELATIVE' => 'R',
    'T_VARIABLE' => 'V', 'T_WHITESPACE' => 'W', 'T_COMMENT' => 'C', 'T_DOC_COMMENT' => 'C', 'T_INLINE_HTML' => 'H',
    'T_OPEN_TAG' => 'O', 'T_OPEN_TAG_WITH_ECHO' => 'O', 'T_CLOSE_TAG' => 'X', 'T_LNUMBER' => 'L', 'T_DNUMBER' => 'L',
    'T_CONSTANT_ENCAPSED_STRING' => 'S', 'T_ENCAPSED_AND_WHITESPACE' => 'E', 'T_NUM_STRING' => 'M',
    'T_STRING_VARNAME' => 'A', 'T_CURLY_OPEN' => 'U', 'T_DOLLAR_OPEN_CURLY_BRACES' => 'D', 'T_START_HEREDOC' => 'B',
    'T_END_HEREDOC' => 'Z',
];
foreach (['INT', 'DOUBLE', 'STRING', 'ARRAY', 'OBJECT', 'BOOL', 'UNSET', 'VOID'] as $type) {
    $classes["T_{$type}_CAST"] = 'T';
}
$of = [];
foreach ($classes as $name => $class) {
    if (defined($name)) {
        $of[constant($name)] = ord($class);
    }
}
while (($path = fgets(STDIN)) !== false) {
    $source = file_get_contents(rtrim($path, "\n"));
    $found = [];
    foreach (@token_get_all($source) as $token) {
        [$id, $text] = is_array($token) ? $token : [0, $token];
        if ($text !== '') {
            $found[] = strlen($text);
            $found[] = $of[$id] ?? ord('.');
        }
    }
    fwrite(STDOUT, pack('V*', count($found) >> 1, ...$found));
}
