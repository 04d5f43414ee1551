<?php
// needs: php-doctrine-orm

namespace Orms;

require dirname(__DIR__) . '/doctrine.php';
require_once 'Doctrine/ORM/autoload.php';

use Doctrine\DBAL\Connection;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Tools\SchemaTool;

use function Async\localContext;

#[ORM\Entity]
#[ORM\Table(name: 'done')]
final class Done
{
    #[ORM\Id, ORM\GeneratedValue(strategy: 'IDENTITY'), ORM\Column(type: 'integer')]
    public ?int $id = null;

    public function __construct(#[ORM\Column(type: 'integer')] public int $n) {}
}

/** An entity manager for each coroutine, all on one connection. */
final class Entities implements Library
{
    public function __construct(private readonly Connection $db, private readonly Configuration $configuration) {}

    public function manager(): EntityManager
    {
        $own = localContext();
        if (!$own->find($this)?->isOpen()) {
            $own->set($this, new EntityManager($this->db, $this->configuration), replace: true);
        }
        return $own->find($this);
    }

    public function transaction(\Closure $body): mixed
    {
        if ($this->level() > 0) {
            // A failure in it would close the manager.
            return $this->db->transactional(function () use ($body) {
                $body();
                $this->manager()->flush();
            });
        }
        return $this->manager()->wrapInTransaction($body);
    }

    public function begin(): void
    {
        $this->manager()->beginTransaction();
    }

    public function rollBack(): void
    {
        $this->manager()->rollback();
    }

    public function insert(int $n): void
    {
        $manager = $this->manager();
        $manager->persist($row = new Done($n));
        $manager->flush();
        same(true, $row->id > 0 && $manager->contains($row), 'the number of the row');
    }

    public function count(int $n): int
    {
        return (int) $this->manager()->createQuery('select count(d) from ' . Done::class . ' d where d.n = :n')->setParameter('n', $n)->getSingleScalarResult();
    }

    public function level(): int
    {
        return $this->db->getTransactionNestingLevel();
    }
}

$db = connection();
$configuration = new Configuration();
$configuration->setMetadataDriverImpl(new AttributeDriver([]));
$configuration->setProxyDir(sys_get_temp_dir());
$configuration->setProxyNamespace('Orms\\Proxies');
$manager = new EntityManager($db, $configuration);
$schema = new SchemaTool($manager);
run(40, static fn (int $n) => \Async\spawn(static function () use ($db, $configuration, $n) {
    $library = new Entities($db, $configuration);
    for ($round = 0; $round < ROUNDS; $round++) {
        job($library, $n, $round);
    }
}), static function () use ($schema, $manager): void {
    $schema->dropSchema($all = [$manager->getClassMetadata(Done::class)]);
    $schema->createSchema($all);
});
