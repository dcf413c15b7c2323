-- From here on everything is inside the function 'rest' of the part 'dispatch'.

-- As in 'common'; a function may use no more than 60 locals of those around it.
local notes = sub(state, 1, -2) .. 'n'

local function parsekey(key)
  local sid, length, rest = match(key, '^([^|]+)|(%d+)|(.*)$')
  length = tonumber(length)
  if not sid or #rest < length + 2 then
    corrupt(index)
  end
  return sid, sub(rest, 1, length), sub(rest, length + 2)
end

local function resource(touched, name)
  local res = touched[name]
  if res == nil then
    res = read(name) or false
    touched[name] = res
    if res then
      touched[#touched + 1] = res
    end
  end
  return res
end

-- The claim in a slot, if any, and its resource.
local function inslot(sid, slot, touched)
  local field = '\255c' .. sid .. ' ' .. slot
  local name = call('HGET', state, field)
  local res = name and resource(touched or {}, name)
  if res then
    for _, c in ipairs({ res.inline or res.near[1], unpack(res.near) }) do
      if c.sid == sid and c.at == 's' and slotof(c) == field then
        return c, res
      end
    end
  end
  if name and touched then
    put('HDEL', state, field)
  end
end

-- Removes the marks with the last deadline. If they are missing, the deadlines were lost.
local function unmark()
  local first = call('ZRANGEBYSCORE', deadlines, '-inf', '+inf', 'LIMIT', 0, 1)[1]
  if first == '!' and not lost then
    put('ZREM', deadlines, '!')
    put('ZREM', index, '!')
    put('HDEL', state, '\255#')
    soonest, changed = MAX_TOKEN, true
    -- Later commands of the same call add them again.
    marked, empty = nil, true
  elseif not first then
    lost = true
  end
end

-- Drops claims of an ended session, within a budget, and returns the rest of the budget.
local function sweepsession(sid, budget, touched)
  local s = session(sid)
  if s and s.live then
    mark(s)
  end
  if s then
    s.ending = true
  end
  local progress = '\255!' .. sid
  local from = call('HGET', state, progress) or '0'
  local done = false
  if s and sub(from, 1, 1) ~= '@' then
    local slot, most = tonumber(from), s.slots
    while slot <= most and budget > 0 do
      local ok, c, res = pcall(inslot, sid, format('%03d', slot), touched)
      if ok and c then
        drop(res, c)
      end
      slot, budget = slot + 1, budget - 1
    end
    from = slot > most and '@' or tostring(slot)
  end
  if budget > 0 then
    local keys = call('ZRANGEBYLEX', index, #from > 1 and sub(from, 1, 1) == '@' and '(' .. from or '[@' .. sid .. '|', '(@' .. sid .. '}', 'LIMIT', 0, budget)
    for _, key in ipairs(keys) do
      local _, name, claim = parsekey(sub(key, 2))
      local res = resource(touched, name)
      local c = res and find(res, sid, claim)
      if not c then
        -- The name was deleted by hand, so the rest of the claim is deleted too.
        local left = record(name, sid, claim)
        put('ZREM', index, key)
        if left then
          put('HDEL', state, '\255k' .. sub(key, 2))
          put('ZREM', index, place({ p = prefix(name) }, left))
        end
      elseif not outlives(c) then
        drop(res, c)
      end
    end
    done = #keys < budget
    from, budget = keys[#keys] or from, budget - #keys
  end
  if s then
    s.ending = nil
  end
  if done and lost then
    -- Repaired members may be before the position reached, so this starts over.
    done, from = false, '0'
  end
  if not done then
    put('HSET', state, progress, from)
    crowded = true
    return 0
  end
  put('HDEL', state, progress)
  put('ZREM', deadlines, 's' .. sid)
  unmark()
  if not isused(sid) then
    put('HDEL', state, '\255' .. sid)
    sessions[sid] = false
  end
  return budget
end

-- A day, in microseconds: how long the generation of an open latch is remembered.
local RETENTION = 86400000000

local function sweep(members)
  if lost then
-- part: repair
    pcall(repair)
  end
  local budget, touched = SWEEP_LIMIT, {}
  local function take(member)
    local kind, what = sub(member, 1, 1), sub(member, 2)
    if kind == 's' then
      if budget > 0 then
        budget = sweepsession(what, budget, touched)
      else
        crowded = true
      end
    elseif kind == 'a' then
      put('ZREM', deadlines, member)
      resource(touched, what)
    elseif kind == 'l' then
      local sid, name, claim = parsekey(what)
      local res = resource(touched, name)
      local c = res and find(res, sid, claim)
      put('ZREM', deadlines, member)
      if c then
        drop(res, c)
      end
    else
      local _, remaining = count(what)
      if remaining == NONE then
        put('HDEL', state, '\255l' .. what)
      end
      put('ZREM', deadlines, member)
    end
  end
  -- Damaged data stays as it is, and doesn't stop the rest.
  for _, member in ipairs(members) do
    pcall(take, member)
  end
  for _, res in ipairs(touched) do
    pcall(settle, res)
  end
  sessions = {}
end
