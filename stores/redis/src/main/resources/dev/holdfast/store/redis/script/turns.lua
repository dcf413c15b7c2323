local other, sweep

local function run(i)
  local op = ARGV[i]
  if op == 'A' then
    return safely(acquire, unpack(ARGV, i + 1, i + 10)), i + 11
  elseif op == 'R' then
    return safely(release, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]), i + 4
  elseif op == 'W' then
    return safely(withdraw, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]), i + 4
  elseif op == 'P' then
    return safely(several, i, 3, poll), i + 2 + 3 * ARGV[i + 1]
  elseif op == 'V' then
    return safely(advance, unpack(ARGV, i + 1, i + 6)), i + 7
  elseif op == 'Y' then
    return safely(yield, unpack(ARGV, i + 1, i + 10)), i + 11
  end
  if not other then
    other, sweep = rest()
  end
  return other(i)
end

return run, function(members)
  if not other then
    other, sweep = rest()
  end
  sweep(members)
end
