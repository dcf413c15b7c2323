local function rest()
-- part: ending bounded latches sessions reports rest
end

local other, sweep

-- The operations that 'mutexqueue' never serves; the letters are those of ScriptCall.
local ACQUIRE_LEASED, WITHDRAW, POLL, ADVANCE, YIELD_LEASED = 'B', 'W', 'P', 'V', 'y'
-- Before a release or a yield: the layers before this one would leave the annotation.
local ANNOTATED = 'e'

local function acquiring(i, kind, want, binding, length, wait)
  local sid, claim = match(args[i + 3], '^S (%S+) (%d+) $')
  local spec, weight = match(kind, '^(%S+) (%d+)$')
  return acquire(args[i + 1], sid, claim, args[i + 5], spec, weight, binding, length, want, wait)
end

local function yielding(i, binding, length)
  local sid, claim = match(args[i + 3], '^S (%S+) (%d+) $')
  local next = match(args[i + 5], '(%d+) $')
  local spec, weight = match(args[i + 8], '^(%S+) (%d+)$')
  return yield(args[i + 1], sid, claim, next, args[i + 7], spec, weight, binding, length, args[i + 9])
end

local function run(i)
  local op = args[i]
  if op == ACQUIRE_MUTEX then
    return safely(acquiring, i, 'mf1 1', '1', 's', 0, 'q'), i + 6
  elseif op == ACQUIRE then
    return safely(acquiring, i, args[i + 6], args[i + 7], 's', 0, 'q'), i + 8
  elseif op == TRY then
    return safely(acquiring, i, args[i + 6], args[i + 7], 's', 0, 't'), i + 8
  elseif op == ACQUIRE_LEASED then
    return safely(acquiring, i, args[i + 6], args[i + 7], args[i + 8], args[i + 9], args[i + 10]), i + 11
  elseif op == RELEASE then
    local sid, claim = match(args[i + 2], '^S (%S+) (%d+) $')
    return safely(release, args[i + 1], sid, claim), i + 4
  elseif op == WITHDRAW then
    return safely(withdraw, args[i + 1], args[i + 2], args[i + 3]), i + 4
  elseif op == POLL then
    return safely(several, i, 3, poll), i + 2 + 3 * args[i + 1]
  elseif op == ADVANCE then
    return safely(advance, unpack(args, i + 1, i + 6)), i + 7
  elseif op == YIELD then
    return safely(yielding, i, 's', 0), i + 10
  elseif op == YIELD_LEASED then
    return safely(yielding, i, args[i + 10], args[i + 11]), i + 12
  elseif op == ANNOTATED then
    return run(i + 1)
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
