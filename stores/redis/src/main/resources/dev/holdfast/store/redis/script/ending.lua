-- From here on, all is inside the function 'rest', which is inside of 'machine'.

local function parsekey(key)
  local sid, length, rest = match(key, '^([^|]+)|(%d+)|(.*)$')
  length = tonumber(length)
  if not sid or #rest < length + 2 then
    error('HFCORRUPT ' .. C, 0)
  end
  return sid, string.sub(rest, 1, length), string.sub(rest, length + 2)
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

-- Drops claims of an ended session, at most so many; gives how many are left of the number.
local function sweepsession(sid, budget, touched)
  local s = session(sid)
  if s and s.live then
    mark(s)
  end
  if s then
    s.ending = true
  end
  local from = call('HGET', S, '!' .. sid)
  local keys = call('ZRANGEBYLEX', C, from and '(' .. from or '[' .. sid .. '|', '(' .. sid .. '}', 'LIMIT', 0, budget)
  for _, key in ipairs(keys) do
    local _, name, claim = parsekey(key)
    local res = resource(touched, name)
    local c = res and find(res, sid, claim)
    if not c then
      put('ZREM', C, key)
    elseif not outlives(c) then
      drop(res, c)
    end
  end
  if s then
    s.ending = nil
  end
  if #keys == budget then
    put('HSET', S, '!' .. sid, keys[#keys])
    ending = ending or {}
    ending[#ending + 1] = sid
    return 0
  end
  put('HDEL', S, '!' .. sid)
  put('ZREM', D, 's' .. sid)
  if not call('ZRANGEBYLEX', C, '[' .. sid .. '|', '(' .. sid .. '}', 'LIMIT', 0, 1)[1] then
    put('HDEL', S, sid)
    sessions[sid] = false
  end
  return budget - #keys
end

local function sweep(members)
  local budget, touched = SWEEP, {}
  local function take(member)
    local kind, what = string.sub(member, 1, 1), string.sub(member, 2)
    if kind == 's' then
      if budget > 0 then
        budget = sweepsession(what, budget, touched)
      else
        local s = session(what)
        if s and s.live then
          mark(s)
        end
        ending = ending or {}
        ending[#ending + 1] = what
      end
    elseif kind == 'l' then
      local sid, name, claim = parsekey(what)
      local res = resource(touched, name)
      local c = res and find(res, sid, claim)
      put('ZREM', D, member)
      if c then
        drop(res, c)
      end
    else
      local _, remaining = count(what)
      if remaining == NONE then
        put('HDEL', L, what)
      end
      put('ZREM', D, member)
    end
  end
  -- What is damaged stays as it is, and does not keep the rest from going on.
  for _, member in ipairs(members) do
    pcall(take, member)
  end
  for _, res in ipairs(touched) do
    pcall(settle, res)
  end
  sessions = {}
end
