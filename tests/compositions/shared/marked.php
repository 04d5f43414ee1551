<?php
namespace Compositions\Feature\Shared;

interface Marked {}
