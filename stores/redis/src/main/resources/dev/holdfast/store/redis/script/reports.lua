-- The claims of a session, page by page: those with slots first. The cursor is the next slot, or the last claim of a page.
local function audit(sid, after, limit)
  local s = session(sid)
  local gone = over(s)
  -- A claim that is not listed counts as lost: so nothing is listed before all is.
  if not (gone or call('ZSCORE', D, '!') and call('ZSCORE', O, '!') or isrepaired()) or lost then
    error('HFREPAIR', 0)
  end
  local answer, count = { 'U', '' }, 0
  local function tell(c)
    if c and (not gone or outlives(c)) then
      answer[#answer + 1] = c.granted and 1 or 0
      answer[#answer + 1] = c.name
      answer[#answer + 1] = c.claim
      count = count + 1
    end
  end
  limit = tonumber(limit)
  if s and not gone and sub(after, 1, 1) ~= '@' then
    for slot = tonumber(after) or 0, s.slots do
      if count == limit then
        answer[2] = tostring(slot)
        return answer
      end
      tell(inslot(sid, format('%03d', slot)))
    end
    if count == limit then
      answer[2] = '@'
      return answer
    end
  end
  limit = limit - count
  local from = #after > 1 and sub(after, 1, 1) == '@' and '(' .. after or '[@' .. sid .. '|'
  local keys = call('ZRANGEBYLEX', O, from, '(@' .. sid .. '}', 'LIMIT', 0, limit + 1)
  for i, key in ipairs(keys) do
    if i <= limit then
      local _, name, claim = parsekey(sub(key, 2))
      tell(find(read(name), sid, claim))
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

-- The grants at a name from behind a place on, oldest first: at most so many; and the place of the last, if more follow.
local function page(res, after, most)
  local function seqof(at)
    return tonumber(match(at, '^g(%d+)|') or 0)
  end
  local places, all, inline = {}, {}, res.inline
  if inline and inline.seq <= seqof(after) then
    inline = nil
  end
  if res.grants > (res.inline and 1 or 0) then
    places = call('ZRANGEBYLEX', O, after == '' and '[' .. res.p .. 'g' or '(' .. res.p .. after, '(' .. res.p .. 'h', 'LIMIT', 0, most + 1)
    if not places[1] and after == '' then
      others(res, 1) -- if they are lost, they are repaired
    end
  end
  for _, at in ipairs(places) do
    if inline and inline.seq < seqof(sub(at, #res.p + 1)) then
      all[#all + 1] = place(res, inline)
      inline = nil
    end
    all[#all + 1] = at
  end
  if inline then
    all[#all + 1] = place(res, inline)
  end
  local found = {}
  for i = 1, math.min(most, #all) do
    local c = claimat(res, all[i])
    if not c and res.inline and all[i] == place(res, res.inline) then
      c = res.inline
    end
    found[#found + 1] = c
  end
  return found, all[most + 1] and sub(all[most], #res.p + 1)
end

-- What is recorded of a name: so many of its grants, from behind a place on, and of those who wait.
local function inspect(name, after, most, waiting)
  local res = load(name)
  if not res then
    return 'A', 0
  end
  local holding, queue = {}, {}
  local found, rest = page(res, after, most)
  for _, c in ipairs(found) do
    party(holding, c)
  end
  local all = waiting > 0 and waiters(res, waiting) or {}
  for _, c in ipairs(all) do
    party(queue, c)
  end
  return { 'I', res.spec, res.capacity, res.grants, res.held, res.queue, res.newest, holding, queue, rest or nil }, #found + #all
end

-- Names, each with the first who hold it and who wait for it. What is too much for one call is left to another.
local function inspectall(names)
  local answer, budget = {}, PARTIES
  for i, name in ipairs(names) do
    if budget > 0 then
      local told
      answer[i], told = inspect(name, '', SHOWN, SHOWN)
      budget = budget - 1 - told
    else
      answer[i] = 'L'
    end
  end
  return answer
end

-- One name, with a page of who holds it.
local function inspectone(name, after, most)
  return (inspect(name, after, math.min(most, PARTIES), after == '' and SHOWN or 0))
end

-- A key that holds something else is told by name, and left as it is: no command of the script writes over it.
local function check()
  for i, kind in ipairs({ 'hash', 'zset', 'zset' }) do
    local found = call('TYPE', KEYS[i])['ok']
    if found ~= kind and found ~= 'none' then
      corrupt(KEYS[i])
    end
  end
end

-- Does to the bucket all that a step may do, and leaves it as it was, also where something is not permitted: who lacks a
-- permission learns it at once.
local function probe(client)
  check()
  for _, key in ipairs({ D, O }) do
    put('ZREM', key, '!')
    put('ZREMRANGEBYLEX', key, '[!', '(!')
    call('ZSCORE', key, '!')
    call('ZRANGEBYSCORE', key, 1, 0)
    call('ZRANGEBYLEX', key, '[!', '(!', 'LIMIT', 0, 1)
    put('ZADD', key, 'XX', 0, '!')
  end
  put('HDEL', H, '\255?')
  call('HGET', H, '\255?')
  call('HSCAN', H, 0, 'COUNT', 1)
  local made, set = try('HSETNX', H, '\255?', ''), try('HSET', H, '\255?', '')
  put('HDEL', H, '\255?')
  for _, done in ipairs({ made, set }) do
    if type(done) == 'table' then
      error(done)
    end
  end
  tell({ client = client }, '')
  changed = true
  return 'D'
end
