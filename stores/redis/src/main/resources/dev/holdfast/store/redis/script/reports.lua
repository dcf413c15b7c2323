local function audit(sid, after, limit)
  local s = session(sid)
  local gone = over(s)
  local answer = { 'U', '' }
  limit = tonumber(limit)
  local keys = call('ZRANGEBYLEX', C, after == '' and '[' .. sid .. '|' or '(' .. after, '(' .. sid .. '}', 'LIMIT', 0, limit + 1)
  for i, key in ipairs(keys) do
    if i <= limit then
      local _, name, claim = parsekey(key)
      local c = find(read(name), sid, claim)
      if c and (not gone or outlives(c)) then
        answer[#answer + 1] = c.granted and 1 or 0
        answer[#answer + 1] = name
        answer[#answer + 1] = claim
      end
    else
      answer[2] = keys[limit]
    end
  end
  return answer
end

local function party(answer, c)
  local s = session(c.sid)
  for _, v in ipairs({ c.sid, c.claim, s and s.label or '', c.weight, c.first, c.last, left(c) }) do
    answer[#answer + 1] = v
  end
end

local function inspect(name)
  local res = load(name)
  if not res then
    return { 'A' }
  end
  local holders, waiters = {}, {}
  local inline = res.inline
  for _, member in ipairs(listed(res, 'g', 'h', -1)) do
    local c = claimat(res, member)
    if inline and inline.seq < c.seq then
      party(holders, inline)
      inline = nil
    end
    party(holders, c)
  end
  if inline then
    party(holders, inline)
  end
  for _, member in ipairs(listed(res, 'w', 'x', 100)) do
    party(waiters, claimat(res, member))
  end
  return { 'I', res.spec, res.capacity, res.queue, res.newest, holders, waiters }
end

-- A key that holds something else is told by name, and left as it is: no command of the script writes over it.
local function check()
  for i, kind in ipairs({ 'string', 'hash', 'zset', 'hash', 'hash', 'zset', 'zset', 'hash' }) do
    local found = call('TYPE', KEYS[i])['ok']
    if found ~= kind and found ~= 'none' then
      error('HFCORRUPT ' .. KEYS[i], 0)
    end
  end
end

-- Does to the bucket all that a step may do, and leaves it as it was, also where something is not permitted: who lacks a
-- permission learns it at once.
local function probe()
  check()
  for _, key in ipairs({ D, O, C }) do
    put('ZREM', key, '!')
    put('ZREMRANGEBYLEX', key, '[!', '(!')
    call('ZSCORE', key, '!')
    call('ZRANGEBYSCORE', key, 1, 0)
    call('ZRANGEBYLEX', key, '[!', '(!', 'LIMIT', 0, 1)
    put('ZADD', key, 'XX', 0, '!')
  end
  for _, key in ipairs({ S, R, K, L }) do
    put('HDEL', key, '!')
    call('HGET', key, '!')
    put('HSET', key, '!', '')
    put('HDEL', key, '!')
  end
  put('PUBLISH', ARGV[1] .. 'nobody', '')
  changed = true
  return { 'D' }
end
