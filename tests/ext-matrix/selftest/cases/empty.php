<?php
// expect: FAIL +empty: has no check
