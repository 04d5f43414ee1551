<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Spindle\Pooled\Pools;

/**
 * A connection that is not opened: remembers how it would be, and the statements with which Laravel prepares it.
 *
 * What it is asked for otherwise fails, since the object is not constructed for PDO.
 *
 * @internal
 */
final class Unopened extends \PDO
{
    /** @var list<string> */
    private array $statements = [];

    public function __construct(private readonly string $dsn, public readonly string $user, #[\SensitiveParameter] public readonly string $password,
        private readonly array $options) {}

    public function exec(string $statement): int
    {
        $this->statements[] = \trim($statement, " \n;");
        return 0;
    }

    public function prepare(string $query, array $options = []): \PDOStatement
    {
        return new UnopenedStatement(fn () => $this->exec($query));
    }

    /** The version of the server is what Laravel asks for: it is what a connection says. */
    public function getAttribute(int $attribute): mixed
    {
        return $attribute === \PDO::ATTR_SERVER_VERSION ? Pools::all()->version($this->dsn, $this->user, $this->password, $this->options)
            : throw new \LogicException("spindle/eloquent does not know the attribute $attribute of a connection that is not opened");
    }

    /** Opens a connection that is none of a pool. */
    public function open(): \PDO
    {
        $connection = new \PDO($this->dsn, $this->user, $this->password, $this->options);
        \array_map($connection->exec(...), $this->statements);
        return $connection;
    }

    /**
     * Returns the name of the data source and the options with which the server makes the settings of the statements.
     *
     * @return array{string, array<int, mixed>}
     */
    public function withSettings(): array
    {
        return \str_starts_with($this->dsn, 'mysql:') ? [$this->dsn, $this->ofMySql()] : [$this->ofPostgres(), $this->options];
    }

    /** MySQL executes one statement for each connection: all settings are in it. */
    private function ofMySql(): array
    {
        $given = \trim((string) ($this->options[\PDO::MYSQL_ATTR_INIT_COMMAND] ?? ''), " \n;");
        $settings = [];
        $isolation = '';
        foreach ($given === '' ? $this->statements : [$given, ...$this->statements] as $statement) {
            if (\preg_match('/^use `(.*)`$/is', $statement, $found) && \str_contains("$this->dsn;", "dbname=$found[1];")) {
                continue; // it is the connection's
            }
            if (\preg_match('/^set session transaction isolation level ([a-z ]+)$/i', $statement, $found)) {
                // The variable has another name in MariaDB, where comments for MySQL are comments.
                $level = \strtr(\strtoupper(\trim($found[1])), ' ', '-');
                $isolation = " /*!50720 , SESSION transaction_isolation='$level' */ /*M! , SESSION tx_isolation='$level' */";
            } elseif (\preg_match('/^set ([^;]+)$/is', $statement, $found)) {
                $settings[] = $found[1];
            } else {
                throw self::unknown($statement);
            }
        }
        if ($settings === [] && $isolation !== '') {
            $settings[] = 'SESSION sql_mode=@@SESSION.sql_mode';
        }
        return ($settings === [] ? [] : [\PDO::MYSQL_ATTR_INIT_COMMAND => 'SET ' . \implode(', ', $settings) . $isolation]) + $this->options;
    }

    /** PostgreSQL reads settings from the name of the data source. */
    private function ofPostgres(): string
    {
        $settings = '';
        foreach ($this->statements as $statement) {
            [$name, $value] = match (1) {
                \preg_match('/^set names (.+)$/is', $statement, $found) => ['client_encoding', $found[1]],
                \preg_match('/^set time zone (.+)$/is', $statement, $found) => ['timezone', $found[1]],
                \preg_match('/^set session characteristics as transaction isolation level ([a-z ]+)$/i', $statement, $found)
                    => ['default_transaction_isolation', \strtolower(\trim($found[1]))],
                \preg_match('/^set ([a-z_.]+) (?:to|=) (.+)$/is', $statement, $found) => [$found[1], $found[2]],
                default => throw self::unknown($statement),
            };
            if (\preg_match("/^'((?:[^']|'')*)'$/", $value, $found)) {
                $value = \strtr($found[1], ["''" => "'"]);
            }
            $settings .= " -c $name=" . \addcslashes($value, " \t\n\\");
        }
        if (\str_contains($settings, ';') || ($settings !== '' && \str_contains($this->dsn, 'options='))) {
            throw self::unknown(\implode('; ', $this->statements));
        }
        return $this->dsn . ($settings === '' ? '' : ";options='" . \addcslashes(\ltrim($settings), "'\\") . "'");
    }

    private static function unknown(string $statement): \LogicException
    {
        return new \LogicException("spindle/eloquent cannot execute this for each connection of a pool: $statement");
    }
}
