local function ids(res)
  return '[' .. res.p .. 'i', '(' .. res.p .. 'j'
end

local function writecount(res)
  put('HSET', state, '\255l' .. res.name, res.generation .. ' ' .. res.left)
end

local function latch(name)
  local res = load(name)
  if res and not res.latch then
    return nil, { 'F', 'm', res.spec }
  end
  if not res then
    res = fresh(name, 'lf1')
    res.generation, res.left = count(name)
  end
  return res
end

local function setcount(name, sid, epoch, generation, amount)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local res
  res, no = latch(name)
  if no then
    return no
  end
  if res.left == NONE and generation > res.generation then
    add()
    res.generation, res.left = generation, amount
    writecount(res)
    put('ZREM', deadlines, 'o' .. name)
  end
  settle(res)
  return { 'N', res.generation, res.left }
end

-- Exact for 19 digits, and not below zero.
local function minus(a, b)
  if a <= b then
    return NONE
  end
  local high = string.sub(a, 1, 10) - string.sub(b, 1, 10)
  local low = string.sub(a, 11) - string.sub(b, 11)
  if low < 0 then
    high, low = high - 1, low + 1000000000
  end
  return format('%010.0f%09.0f', high, low)
end

local function countdown(name, generation, id, amount)
  local res, no = latch(name)
  if no then
    return no
  end
  if res.generation == generation and res.left ~= NONE and put('ZADD', index, 'NX', 0, res.p .. 'i' .. id) == 1 then
    res.left = minus(res.left, amount)
    if res.left == NONE then
      put('ZREMRANGEBYLEX', index, ids(res))
      endat(now + RETENTION, 'o' .. name)
    end
    writecount(res)
    settle(res)
  end
  return { 'N', res.generation, res.left }
end

local function resize(name, sid, epoch, capacity)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local res = load(name)
  if not res then
    return 'A'
  end
  if string.sub(res.spec, 1, 1) ~= 's' then
    return { 'F', 'm', res.spec }
  end
  res.capacity = tonumber(capacity)
  for _, c in ipairs(waiters(res, -1)) do
    if c.weight > res.capacity then
      drop(res, c)
      local s = session(c.sid)
      if s then
        notify(s, format('C %s %s ', c.sid, c.claim) .. name)
      end
    end
  end
  settle(res)
  return 'D'
end
