
local function fresh(name, spec)
  local res = { name = name, p = prefix(name), spec = spec, capacity = tonumber(sub(spec, 3)), heldweight = 0, grants = 0, newest = 0 }
  -- Near waiters are part of the field of the name; distant ones have separate fields and come after them.
  res.near, res.distant, res.queue = {}, 0, 0
  res.latch = sub(spec, 1, 1) == 'l'
  res.barging = sub(spec, 2, 2) == 'b'
  return res
end

-- The generation and the count of a latch; zeros if it was never set.
local function count(name)
  local v = call('HGET', state, '\255l' .. name)
  if not v then
    return NONE, NONE
  end
  local generation, left = match(v, '^(%d+) (%d+)$')
  if not generation then
    corrupt(state)
  end
  return generation, left
end

local function readnear(res, waiting)
  local at, ends = 1, nil
  while at <= #waiting do
    local c = { name = res.name, granted = false, first = 0, last = 0, picked = false, ends = 0, extension = NONE, near = true }
    at, ends, c.sid, c.claim, c.at, c.binding, c.weight, c.want, c.length = string.find(waiting, WAITER, at)
    if not at then
      corrupt(state)
    end
    c.weight, c.want, c.length = tonumber(c.weight), tonumber(c.want), tonumber(c.length)
    res.near[#res.near + 1] = c
    at = ends + 1
  end
end

local function readgrant(name, text)
  local sid, claim, at, binding, weight, length, seq, first, last, picked, ends, extension = match(text, GRANT)
  if not sid then
    corrupt(state)
  end
  return { name = name, sid = sid, claim = claim, at = at, granted = true, binding = binding, weight = tonumber(weight), length = tonumber(length),
    want = 1, seq = tonumber(seq), first = tonumber(first), last = tonumber(last), picked = picked == '1', ends = tonumber(ends), extension = extension }
end

local function read(name)
  local v = call('HGET', state, name)
  if not v then
    return nil
  end
  local res, waiting
  local letter, sid, claim, spec, weight, first, last, behind = match(v, SIMPLE)
  if letter then
    res, waiting = fresh(name, spec), behind
    res.grants, res.heldweight, res.newest = 1, tonumber(weight), tonumber(last == '' and first or last)
    res.inline = { name = name, sid = sid, claim = claim, at = letter < 'a' and 's' or 'c', granted = true, binding = 's', weight = res.heldweight, length = 0,
      want = 1, seq = tonumber(first), first = tonumber(first), last = res.newest, picked = false, ends = 0, extension = NONE }
  else
    local grants, distant, capacity, held, newest, declared, one, rest = match(v, FULL)
    if not grants then
      corrupt(state)
    end
    res, waiting = fresh(name, declared), rest
    res.grants, res.distant, res.capacity = tonumber(grants), tonumber(distant), tonumber(capacity)
    res.heldweight, res.newest = tonumber(held), tonumber(newest)
    res.inline = one ~= '-' and readgrant(name, one) or nil
  end
  readnear(res, waiting)
  res.known, res.queue = true, #res.near + res.distant
  if res.latch then
    res.generation, res.left = count(name)
  end
  return res
end

local function counting(res)
  return res.latch and (res.left or NONE) ~= NONE
end

local function isplain(res, c)
  return c and c.binding == 's' and res.grants == 1 and res.distant == 0 and res.newest == c.last and res.heldweight == c.weight
    and res.capacity == tonumber(sub(res.spec, 3))
end

local function write(res)
  if res.grants == 0 and res.queue == 0 and not counting(res) then
    if res.known then
      put('HDEL', state, res.name)
    end
    res.known = false
    return
  end
  local c, v = res.inline, nil
  if isplain(res, c) then
    local letter = #res.near > 0 and 'W' or 'S'
    v = format('%s %s %s %s %d %.0f', c.at == 's' and letter or string.lower(letter), c.sid, c.claim, res.spec, c.weight, c.first)
      .. (c.first < c.last and format(' %.0f', c.last) or '')
  else
    v = format('F %d %d %d %.0f %.0f %s ', res.grants, res.distant, res.capacity, res.heldweight, res.newest, res.spec)
      .. (c and format('%s %s %s%s %d %.0f %.0f %.0f %.0f %d %.0f %s', c.sid, c.claim, c.at, c.binding, c.weight, c.length, c.seq, c.first, c.last, c.picked and 1 or 0,
        c.ends, c.extension) or '-')
  end
  for _, w in ipairs(res.near) do
    v = v .. format(';%s %s %s%s %d %d %.0f', w.sid, w.claim, w.at, w.binding, w.weight, w.want, w.length)
  end
  put('HSET', state, res.name, v)
  res.known = true
end
