-- One of the keys may be lost: evicted, or deleted by hand. The state contains everything in deadlines and index, except the ids
-- that have counted a latch down. So both are rebuilt from the state, some in each call: first everything that the state mentions
-- is added, then everything that it doesn't is removed from the index. Superfluous deadlines are detected when they are due.

-- How many fields of the state, or members of the index, one call handles.
local REPAIR = 100

-- The claims of a missing session end now.
local function restoreclaim(c)
  if c.at == 'c' then
    put('ZADD', index, 0, '@' .. keyof(c))
  end
  if c.binding ~= 's' and c.picked then
    endat(c.ends, 'l' .. keyof(c))
  end
  if not outlives(c) and not session(c.sid) then
    endat(0, 's' .. c.sid)
  end
end

local function restore(field)
  local kind, rest = sub(field, 2, 2), sub(field, 3)
  if sub(field, 1, 1) ~= META then
    local res = read(field)
    for _, c in ipairs({ res.inline or res.near[1], unpack(res.near) }) do
      restoreclaim(c)
    end
  elseif kind == 'k' then
    local sid, name, claim = parsekey(rest)
    local c = record(name, sid, claim)
    if call('HGET', state, name) then
      restoreclaim(c)
      put('ZADD', index, 0, place({ p = prefix(name) }, c))
    else
      put('HDEL', state, field)
    end
  elseif kind == 'l' then
    local _, remaining = count(rest)
    if remaining == NONE and not call('ZSCORE', deadlines, 'o' .. rest) then
      endat(now + RETENTION, 'o' .. rest)
    end
  elseif string.find(kind, '%d') then
    local s = session(sub(field, 2))
    endat(s.live and s.ends or 0, 's' .. s.id)
  end
end

-- Whether the state mentions a member of the index.
local function isknown(member)
  if member == '!' then
    return true
  elseif sub(member, 1, 1) == '@' then
    local sid, name, claim = parsekey(sub(member, 2))
    return find(read(name), sid, claim) or record(name, sid, claim)
  end
  local length, rest = match(member, '^(%d+)|(.*)$')
  local name, what = sub(rest, 1, length), sub(rest, length + 2)
  if sub(what, 1, 1) == 'i' then
    local _, remaining = count(name)
    return remaining ~= NONE
  end
  local sid, claim = match(what, '^[gw]%d+|([^|]+)|(%d+)$')
  local c = sid and record(name, sid, claim)
  return c and place({ p = prefix(name) }, c) == member
end

local function repair()
  local progress = call('HGET', state, '\255#')
  local at = progress and sub(progress, 1, 1) ~= 'e' and progress or 'h0'
  if sub(at, 1, 1) == 'h' then
    local page = call('HSCAN', state, sub(at, 2), 'COUNT', REPAIR)
    for i = 1, #page[2], 2 do
      -- Damaged data stays as it is.
      pcall(restore, page[2][i])
    end
    at = page[1] == '0' and 'o' or 'h' .. page[1]
  end
  if sub(at, 1, 1) == 'o' then
    local members = call('ZRANGEBYLEX', index, #at > 1 and '(' .. sub(at, 2) or '-', '+', 'LIMIT', 0, REPAIR)
    for _, member in ipairs(members) do
      local ok, known = pcall(isknown, member)
      if ok and not known then
        put('ZREM', index, member)
      end
    end
    lost = #members == REPAIR
    at = lost and 'o' .. members[REPAIR] or 'e' .. format('%.0f', now)
  end
  if lost or progress then
    put('HSET', state, '\255#', at)
  end
  sessions = {}
end
