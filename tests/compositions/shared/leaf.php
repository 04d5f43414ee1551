<?php
namespace Compositions\Feature\Shared;

class Leaf extends Root
{
    use Owning;
}
