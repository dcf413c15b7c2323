-- Resources

local function fresh(name, spec)
  local res = { name = name, p = prefix(name), spec = spec, capacity = tonumber(string.sub(spec, 3)), held = 0, grants = 0, queue = 0, newest = 0 }
  res.latch = string.sub(spec, 1, 1) == 'l'
  res.barging = string.sub(spec, 2, 2) == 'b'
  return res
end

-- The generation and the count of a latch, of which there may be none.
local function count(name)
  local v = call('HGET', L, name)
  if not v then
    return NONE, NONE
  end
  local generation, left = match(v, '^(%d+) (%d+)$')
  if not generation then
    error('HFCORRUPT ' .. L, 0)
  end
  return generation, left
end

local function read(name)
  local v = call('HGET', R, name)
  if not v then
    return nil
  end
  local grants, queue, sid, claim, binding, spec, capacity, held, newest, seq, weight, length, want, first, block, picked, ends, extra =
    match(v, HEADER)
  if not grants then
    error('HFCORRUPT ' .. R, 0)
  end
  local res = fresh(name, spec)
  res.known = true
  res.grants, res.queue, res.capacity = tonumber(grants), tonumber(queue), tonumber(capacity)
  res.held, res.newest = tonumber(held), tonumber(newest)
  if sid ~= '-' then
    res.inline = { sid = sid, claim = claim, key = claimkey(sid, name, claim), granted = true, seq = tonumber(seq), weight = tonumber(weight),
      binding = binding, length = tonumber(length), want = tonumber(want), first = tonumber(first), last = tonumber(block),
      picked = picked == '1', ends = tonumber(ends), extension = extra }
  end
  if res.latch then
    res.generation, res.left = count(name)
  end
  return res
end

local function counting(res)
  return res.latch and (res.left or NONE) ~= NONE
end

local function write(res)
  if res.grants == 0 and res.queue == 0 and not counting(res) then
    if res.known then
      put('HDEL', R, res.name)
    end
    res.known = false
    return
  end
  local c = res.inline
  if c then
    put('HSET', R, res.name, format('%d %d %s %s %s %s %d %.0f %.0f %.0f %d %.0f %d %.0f %.0f %d %.0f %s', res.grants, res.queue, c.sid, c.claim,
      c.binding, res.spec, res.capacity, res.held, res.newest, c.seq, c.weight, c.length, c.want, c.first, c.last, c.picked and 1 or 0, c.ends, c.extension))
  else
    put('HSET', R, res.name, format('%d %d - 0 - %s %d %.0f %.0f 0 0 0 0 0 0 0 0 0', res.grants, res.queue, res.spec, res.capacity, res.held, res.newest))
  end
  res.known = true
end
