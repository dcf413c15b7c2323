-- Whether the head of the queue should be granted or dropped: an earlier call made room but stopped at its bound, or the head has
-- ended. Unless more is due than a call ends, every end is already handled.
local function isoverdue(res)
  local c = res.queue > 0 and (crowded or res.latch or res.heldweight < res.capacity) and head(res)
  return c and (isdead(c) or fits(res, c.weight))
end

-- Loads a resource for a step: drops what has ended first, within the bound if there is much of it.
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
  -- If the session was deleted by hand, nothing else would ever end this.
  local c = res.inline
  dropif(c, c and not outlives(c) and not session(c.sid))
  if crowded then
    dropif(res.inline, res.inline and isdead(res.inline))
    for _, each in ipairs(others(res, MAX_CHECKED)) do
      dropif(each, isdead(each))
    end
  end
  if touched or isoverdue(res) then
    settle(res)
  end
  return res.known and res or nil
end

-- A claim, unless it has ended, and its resource.
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
