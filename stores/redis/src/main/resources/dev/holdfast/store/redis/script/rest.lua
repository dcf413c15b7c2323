local single = {
  H = { shrink, 4 }, T = { extend, 5 }, F = { force, 3 }, N = { setcount, 5 }, D = { countdown, 4 }, Z = { resize, 4 },
  O = { open, 4 }, K = { keepalive, 2 }, X = { retire, 1 }, C = { close, 1 }, U = { audit, 3 }, L = { inspectone, 3 },
  ['?'] = { probe, 1 }, ['.'] = { function() return 'D' end, 0 },
}

local function other(i)
  if args[i] == 'I' then
    return safely(inspectall, { unpack(args, i + 2, i + 1 + args[i + 1]) }), i + 2 + args[i + 1]
  end
  local what = single[args[i]]
  return safely(what[1], unpack(args, i + 1, i + what[2])), i + 1 + what[2]
end

return other, sweep
