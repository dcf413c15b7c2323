-- Whether the first of those who wait should not: a call that made room may not have found them.
local function isoverdue(res)
  local c = res.queue > 0 and (res.latch or res.held < res.capacity) and head(res)
  return c and (isdead(c) or fits(res, c.weight))
end

-- A resource as a step finds it: what belongs to sessions that are being ended is dropped first.
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
    for _, all in ipairs({ others(res, -1), waiters(res, -1) }) do
      for _, each in ipairs(all) do
        dropif(each, isdead(each))
      end
    end
  elseif ending then
    for _, sid in ipairs(ending) do
      c = res.inline
      dropif(c, c and c.sid == sid and not outlives(c))
      for _, each in ipairs({ unpack(res.near) }) do
        dropif(each, each.sid == sid)
      end
      local from = sid .. '|' .. #name .. '|' .. name .. '|'
      for _, member in ipairs(call('ZRANGEBYLEX', O, '[@' .. from, '(@' .. from .. ':')) do
        c = find(res, sid, sub(member, #from + 2))
        dropif(c, c and not outlives(c))
      end
    end
  end
  if touched or isoverdue(res) then
    settle(res)
  end
  return res.known and res or nil
end
