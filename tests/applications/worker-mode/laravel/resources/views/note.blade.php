<p>{{ $shared }} {{ $of }}</p>@foreach ($list as $one)<li>{{ $one }}@endforeach
