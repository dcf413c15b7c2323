local function shrink(name, sid, claim, weight)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  local given = c.weight - tonumber(weight)
  if given > 0 then
    c.weight, res.heldweight = c.weight - given, res.heldweight - given
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

-- Replaces the annotation of a grant, unless a later one did. Tried first without effect, so that without the permission nothing is
-- left that would not expire.
local function annotate(name, sid, claim, sequence, text)
  local c = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  local known = call('HGET', notes, keyof(c))
  if not known or sub(known, 1, 19) < sequence then
    add()
    put('PEXPIRE', notes, 3600000)
    put('HSET', notes, keyof(c), sequence .. text)
    put('PEXPIRE', notes, 3600000)
  end
  return 'D'
end

-- Ends the grant that has a token, and notifies its session. Its place has the first of its tokens, so if it has had only one
-- block, that place is at most one block before the token; if it has advanced since, the place may be anywhere before. So this
-- searches the nearby places first, and then all from the oldest on. A call checks a bounded number of grants, and the next call
-- continues behind the last one: after is '' in the first call, '-' to start with the oldest, or else a place.
local function force(name, token, after)
  local res = load(name)
  token = tonumber(token)
  local function ends(c)
    if c and c.first <= token and token <= c.last then
      local s = session(c.sid)
      if s then
        notify(s, format('R %s %s ', c.sid, c.claim) .. name)
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
  elseif after == '' then
    others(res, 1) -- starts a repair if their places are lost
  end
  local low, budget = math.max(0, token - BLOCK), PARTIES
  local function search(from, to)
    local places = call('ZRANGEBYLEX', index, from, '(' .. res.p .. format('g%016.0f}', to), 'LIMIT', 0, budget)
    for _, at in ipairs(places) do
      if ends(claimat(res, at)) then
        return 'R'
      end
    end
    budget = budget - #places
    return budget == 0 and { 'Y', sub(places[#places], #res.p + 1) }
  end
  local isbefore = after == '-' or after ~= '' and tonumber(sub(after, 2, 17)) <= low
  local answer
  if not isbefore then
    answer = search(after == '' and '(' .. res.p .. format('g%016.0f}', low) or '(' .. res.p .. after, token)
    after = '-'
  end
  if not answer then
    answer = search(after == '-' and '[' .. res.p .. 'g' or '(' .. res.p .. after, low)
  end
  return answer or 'A'
end
