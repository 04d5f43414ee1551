<?php
/**
 * The table: one line is printed as soon as its figures are there.
 */

final class Table
{
    /** Columns from the left, below zero: set flush left. */
    private const WIDTHS = [-35, 12, 12, 8, -21, -9];

    public bool $over = false;

    public function __construct(private readonly bool $spread) {}

    public function head(): void
    {
        $this->line('', 'spindle', 'plain', 'ratio', 'goal', '');
    }

    public function row(Row $row): void
    {
        progress('');
        $spindle = $row->figure('spindle');
        $plain = $row->figure('plain');
        $ratio = $row->ratio();
        $verdicts = [];
        foreach ($row->goals as $goal) {
            $met = $spindle === null ? null : $goal->met($spindle, $ratio);
            $this->over = $this->over || $met === false;
            $verdicts[] = match ($met) { true => 'ok', false => 'over', null => '–' };
        }
        $this->line(
            $row->name,
            $spindle === null ? '–' : rtrim(number($spindle, $row->unit) . " $row->unit"),
            $plain === null ? '–' : trim("$row->against " . number($plain, $row->unit) . " $row->unit"),
            $ratio === null || $spindle < 0 ? '–' : ratioText($ratio, $row instanceof PairedRow ? 3 : 2),
            implode(', ', $row->goals),
            implode(', ', $verdicts),
        );
        if ($this->spread && $row instanceof PairedRow) {
            echo '    ratios: ', implode(' ', array_map(static fn(float $r): string => sprintf('%.4f', $r), $row->ratios())), "\n";
        }
        if ($this->spread) {
            foreach ($row->samples as $side => $samples) {
                if (count($samples) > 1) {
                    printf("    %s: %s to %s\n", $side === 'plain' && $row->against !== '' ? $row->against : $side,
                        number(min($samples), $row->unit), number(max($samples), $row->unit));
                }
            }
        }
    }

    private function line(string ...$cells): void
    {
        $line = '';
        foreach ($cells as $i => $cell) {
            $fill = str_repeat(' ', max(0, abs(self::WIDTHS[$i]) - preg_match_all('/./us', $cell)));
            $line .= (self::WIDTHS[$i] < 0 ? $cell . $fill : $fill . $cell) . '  ';
        }
        echo rtrim($line), "\n";
    }
}

/** A figure with three digits or so. */
function number(float $value, string $unit): string
{
    $whole = abs($value - round($value)) < 1e-9;
    $size = abs($value);
    return number_format($value, match (true) {
        $whole, $size >= 1000, $unit === '/s', $unit === 'ns' && $size >= 100 => 0,
        $size >= 100, $unit === 'ns' => 1,
        default => 2,
    });
}

/** 0.0165 is "1/61", 1.2 is "1.20". */
function ratioText(float $ratio, int $decimals = 2): string
{
    if ($ratio > 0.5) {
        return number_format($ratio, $decimals);
    }
    $times = 1 / $ratio;
    return '1/' . number_format($times, $times < 10 && abs($times - round($times)) > 0.01 ? 1 : 0);
}

/** What runs now, on a terminal only; '' wipes the line. */
function progress(string $what): void
{
    if (stream_isatty(STDERR)) {
        fwrite(STDERR, "\r\e[K$what");
    }
}
