local function shrink(name, sid, claim, weight)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  local given = c.weight - tonumber(weight)
  if given > 0 then
    c.weight, res.held = c.weight - given, res.held - given
    if res.inline ~= c then
      keep(c)
    end
    settle(res)
  end
  return 'D'
end

local function extend(name, sid, claim, sequence, length)
  local c, res = grantof(name, sid, claim)
  if not c or c.binding == 's' then
    return 'A'
  end
  pickup(res, c)
  if sequence > c.extension then
    c.extension, c.ends = sequence, now + tonumber(length)
    endat(c.ends, 'l' .. keyof(c))
    update(res, c)
  end
  local remaining = c.ends - now
  return { 'T', c.extension, remaining < 1 and 1 or remaining }
end

local function force(name, token)
  local res = load(name)
  token = tonumber(token)
  local function ends(c)
    if c.first <= token and token <= c.last then
      local s = session(c.sid)
      if s then
        tell(s, format('R %s %s ', c.sid, c.claim) .. name)
      end
      drop(res, c)
      settle(res)
      return true
    end
  end
  if res and res.inline and ends(res.inline) then
    return 'R'
  end
  for _, c in ipairs(res and others(res, -1) or {}) do
    if ends(c) then
      return 'R'
    end
  end
  return 'A'
end
