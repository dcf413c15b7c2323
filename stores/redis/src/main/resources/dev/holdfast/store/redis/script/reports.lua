-- The claims of a session, in pages, those with slots first. The cursor is the next slot, or the last claim of a page.
local function audit(sid, after, limit)
  local s = session(sid)
  local ended = hasended(s)
  -- A claim that is not listed counts as lost, so nothing is listed until everything is repaired.
  if not (ended or call('ZSCORE', deadlines, '!') and call('ZSCORE', index, '!') or isrepaired()) or lost then
    error('HFREPAIR', 0)
  end
  local answer, count = { 'U', '' }, 0
  local function list(c)
    if c and (not ended or outlives(c)) then
      answer[#answer + 1] = c.granted and 1 or 0
      answer[#answer + 1] = c.name
      answer[#answer + 1] = c.claim
      count = count + 1
    end
  end
  limit = tonumber(limit)
  if s and not ended and sub(after, 1, 1) ~= '@' then
    for slot = tonumber(after) or 0, s.slots do
      if count == limit then
        answer[2] = tostring(slot)
        return answer
      end
      list(inslot(sid, format('%03d', slot)))
    end
    if count == limit then
      answer[2] = '@'
      return answer
    end
  end
  limit = limit - count
  local from = #after > 1 and sub(after, 1, 1) == '@' and '(' .. after or '[@' .. sid .. '|'
  local keys = call('ZRANGEBYLEX', index, from, '(@' .. sid .. '}', 'LIMIT', 0, limit + 1)
  for i, key in ipairs(keys) do
    if i <= limit then
      local _, name, claim = parsekey(sub(key, 2))
      list(find(read(name), sid, claim))
    else
      answer[2] = keys[limit]
    end
  end
  return answer
end

local function party(answer, c)
  local s = session(c.sid)
  local note = c.granted and try('HGET', notes, keyof(c))
  local since = c.granted and 0 or c.binding == 's' and c.length or c.ends
  for _, v in ipairs({ c.sid, c.claim, s and s.label or '', c.weight, c.first, c.last, left(c), s and s.ttl or 0,
    since > 0 and math.max(0, now - since) or -1, type(note) == 'string' and sub(note, 20) or '' }) do
    answer[#answer + 1] = v
  end
end

-- A page of the grants at a name, oldest first, behind a place; and the place of the last, if more follow.
local function page(res, after, most)
  local function seqof(at)
    return tonumber(match(at, '^g(%d+)|') or 0)
  end
  local places, all, inline = {}, {}, res.inline
  if inline and inline.seq <= seqof(after) then
    inline = nil
  end
  if res.grants > (res.inline and 1 or 0) then
    places = call('ZRANGEBYLEX', index, after == '' and '[' .. res.p .. 'g' or '(' .. res.p .. after, '(' .. res.p .. 'h', 'LIMIT', 0, most + 1)
    if not places[1] and after == '' then
      others(res, 1) -- starts a repair if their places are lost
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

-- The record of a name, with a page of its grants and its first waiters.
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
  return { 'I', res.spec, res.capacity, res.grants, res.heldweight, res.queue, res.newest, holding, queue, rest or nil }, #found + #all
end

-- The records of names, with their first holders and waiters. Names that are too much for one call are left to another.
local function inspectall(names)
  local answer, budget = {}, PARTIES
  for i, name in ipairs(names) do
    if budget > 0 then
      local count
      answer[i], count = inspect(name, '', SHOWN, SHOWN)
      budget = budget - 1 - count
    else
      answer[i] = 'L'
    end
  end
  return answer
end

-- The record of one name, with a page of its holders.
local function inspectone(name, after, most)
  return (inspect(name, after, math.min(most, PARTIES), after == '' and SHOWN or 0))
end

-- A part of the names with waiters, and where the next part begins.
local function listwaited(cursor, pattern, most)
  local part = call('HSCAN', state, cursor, 'MATCH', pattern, 'COUNT', most)
  local answer = { part[1] }
  for i = 1, #part[2], 2 do
    local name, v = part[2][i], part[2][i + 1]
    if sub(name, 1, 1) ~= META and (string.find(v, ';', 1, true) or string.find(v, '^F %d+ [1-9]')) then
      answer[#answer + 1] = name
    end
  end
  return answer
end

-- The runs of a scheduled task, by token, in a separate key in the slot of the bucket, which expires a year after the last one.
local RUNS, YEAR = 10, 366 * 86400000
local function history(name)
  return sub(state, 1, -2) .. 't:' .. name
end

local function runs(name)
  local texts, cursor = {}, '0'
  repeat
    local part = call('HSCAN', history(name), cursor)
    cursor = part[1]
    for i = 1, #part[2], 2 do
      texts[part[2][i]] = part[2][i + 1]
    end
  until cursor == '0'
  return texts
end

local function listruns(name)
  local answer = {}
  for token, text in pairs(runs(name)) do
    if tonumber(token) then
      answer[#answer + 1] = token
      answer[#answer + 1] = text
    end
  end
  return { 'H', answer }
end

-- Sets the time first without effect, as 'annotate' does.
local function recordrun(name, token, text)
  local key, tokens = history(name), {}
  add()
  put('PEXPIRE', key, YEAR)
  put('HSET', key, token, text)
  put('PEXPIRE', key, YEAR)
  for known in pairs(runs(name)) do
    tokens[#tokens + 1] = tonumber(known)
  end
  table.sort(tokens)
  for i = 1, #tokens - RUNS do
    put('HDEL', key, format('%.0f', tokens[i]))
  end
  return 'D'
end

-- Fails with the name of a key that has another type, and leaves it as it is: no command of the script overwrites it.
local function check()
  for i, kind in ipairs({ 'hash', 'zset', 'zset' }) do
    local found = call('TYPE', KEYS[i])['ok']
    if found ~= kind and found ~= 'none' then
      corrupt(KEYS[i])
    end
  end
end

-- Does everything to the bucket that a step may do, and leaves it unchanged, even if something is not permitted. So a missing
-- permission is noticed at the start.
local function probe(client)
  check()
  for _, key in ipairs({ deadlines, index }) do
    put('ZREM', key, '!')
    put('ZREMRANGEBYLEX', key, '[!', '(!')
    call('ZSCORE', key, '!')
    call('ZRANGEBYSCORE', key, 1, 0)
    call('ZRANGEBYLEX', key, '[!', '(!', 'LIMIT', 0, 1)
    put('ZADD', key, 'XX', 0, '!')
  end
  put('HDEL', state, '\255?')
  call('HGET', state, '\255?')
  call('HSCAN', state, 0, 'COUNT', 1)
  local made, set = try('HSETNX', state, '\255?', ''), try('HSET', state, '\255?', '')
  put('HDEL', state, '\255?')
  for _, done in ipairs({ made, set }) do
    if type(done) == 'table' then
      error(done)
    end
  end
  notify({ client = client }, '')
  changed = true
  return 'D'
end
