#!/usr/bin/env php <?php 1;
<?php f();