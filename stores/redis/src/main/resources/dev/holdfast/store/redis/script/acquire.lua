local function refused(res, spec, weight)
  if res and res.spec ~= spec then
    return { 'F', 'm', res.spec }
  end
  if res and weight > res.capacity then
    return { 'F', 'h', weight, res.capacity }
  end
end

local function taken(res)
  local c = res.inline
  if not c and res.grants > 0 and not res.latch then
    c = others(res, 1)[1]
  end
  if c then
    local s = session(c.sid)
    return { 'F', 't', s and s.label or '', c.last, left(c) }
  end
  return { 'F', 'w', counting(res) and 1 or 0 }
end

-- A claim that follows a yield (wait is 'y') is made even if memory is full: it takes the place of the one yielded.
local function acquire(name, sid, claim, epoch, spec, weight, binding, length, want, wait)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local c, res = claimof(name, sid, claim)
  if c then
    return present(res, c)
  end
  weight = tonumber(weight)
  no = refused(res, spec, weight)
  if no then
    return no
  end
  if not res then
    res = fresh(name, spec)
    if res.latch then
      res.generation, res.left = count(name)
    end
  end
  c = { name = name, sid = sid, claim = claim, weight = weight, binding = binding, length = tonumber(length), want = tonumber(want), first = 0,
    last = 0, picked = false, ends = 0, extension = NONE }
  local isfree = fits(res, weight) and (res.queue == 0 or res.barging)
  if wait == 't' and not isfree then
    return taken(res)
  elseif wait ~= 'y' then
    add()
  end
  if isfree then
    if not grant(res, c) then
      return { 'F', 's' }
    end
    local answer = present(res, c)
    write(res)
    return answer
  end
  enqueue(res, c)
  write(res)
  return queued(res, c)
end

local function withdraw(name, sid, claim)
  local res = load(name)
  local c = find(res, sid, claim)
  if c then
    drop(res, c)
    settle(res)
  end
  return 'D'
end

local function grantof(name, sid, claim)
  local c, res = claimof(name, sid, claim)
  if c and c.granted then
    return c, res
  end
end

local function release(name, sid, claim)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  drop(res, c)
  settle(res)
  return 'R'
end

local function poll(name, sid, claim)
  local c, res = claimof(name, sid, claim)
  if not c then
    return 'A'
  end
  return present(res, c)
end

local function yield(name, sid, claim, next, epoch, spec, weight, binding, length, want)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local c, res = grantof(name, sid, claim)
  if c then
    if last >= MAX_TOKEN or clock > MAX_TOKEN then
      return { 'F', 's' }
    end
    no = refused(res, spec, tonumber(weight))
    if no then
      return no
    end
    drop(res, c)
    settle(res)
  end
  return acquire(name, sid, next, epoch, spec, weight, binding, length, want, 'y')
end

local function advance(name, sid, claim, blockend, want, above)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  if format('%.0f', c.last) == blockend then
    local first, ends = reserve(tonumber(above), tonumber(want))
    if not first then
      return 'U'
    end
    c.first, c.last, res.newest = first, ends, ends
    if res.inline ~= c then
      keep(c)
    end
    write(res)
  end
  return format('V %.0f %.0f %d', c.first, c.last, res.queue > 0 and 1 or 0)
end
