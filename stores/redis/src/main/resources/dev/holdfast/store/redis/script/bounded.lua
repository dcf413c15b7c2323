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

-- Ends the grant that has a token, and tells its session. Its place is that of its first token or, if it has got others since, one
-- before that: a call looks at so many, and the next one goes on before the last of them.
local function force(name, token, before)
  local res = load(name)
  token = tonumber(token)
  local function ends(c)
    if c and c.first <= token and token <= c.last then
      local s = session(c.sid)
      if s then
        tell(s, format('R %s %s ', c.sid, c.claim) .. name)
      end
      drop(res, c)
      settle(res)
      return true
    end
  end
  if not res then
    return 'A'
  elseif ends(res.inline) then
    return 'R'
  elseif before == '' then
    others(res, 1) -- if they are lost, they are repaired
  end
  local from = before == '' and '[' .. res.p .. format('g%016.0f}', token) or '(' .. res.p .. before
  local places = call('ZREVRANGEBYLEX', O, from, '[' .. res.p .. 'g', 'LIMIT', 0, PARTIES)
  for _, at in ipairs(places) do
    if ends(claimat(res, at)) then
      return 'R'
    end
  end
  return places[PARTIES] and { 'Y', sub(places[PARTIES], #res.p + 1) } or 'A'
end
