-- Whether the first of those who wait should not: a call that made room may not have found them, or they have ended, which a
-- call knows of all of them unless more is due than it ends.
local function isoverdue(res)
  local c = res.queue > 0 and (crowded or res.latch or res.held < res.capacity) and head(res)
  return c and (isdead(c) or fits(res, c.weight))
end

-- A resource as a step finds it: what has ended is dropped first, or the first of that where there is much of it.
local function load(name)
  local res = read(name)
  if not res then
    return nil
  end
  local touched = false
  local function dropif(c, condition)
    if c and condition then
      drop(res, c)
      touched = true
    end
  end
  -- Somebody removed the session by hand: nothing else would ever end this.
  local c = res.inline
  dropif(c, c and not outlives(c) and not session(c.sid))
  if crowded then
    dropif(res.inline, res.inline and isdead(res.inline))
    for _, each in ipairs(others(res, LOOK)) do
      dropif(each, isdead(each))
    end
  end
  if touched or isoverdue(res) then
    settle(res)
  end
  return res.known and res or nil
end

-- A claim, if it has not ended, and the resource that it is at.
local function claimof(name, sid, claim)
  local res = load(name)
  local c = find(res, sid, claim)
  if c and crowded and isdead(c) then
    drop(res, c)
    settle(res)
    return nil, res.known and res or nil
  end
  return c, res
end
