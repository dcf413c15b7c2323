-- Admits from the head of the queue what fits, tells it, and writes the resource. Where that is more than one call may do,
-- whoever comes next goes on with it; but those who wait for a latch pass all at once, before it may be set again.
local function settle(res)
  local admitted = {}
  local begun = false
  while res.queue > 0 do
    local c = head(res)
    if not c then
      break
    elseif begun and admits <= 0 and not res.latch then
      if isdead(c) or fits(res, c.weight) then
        endat(0, 'a' .. res.name)
        crowded = true
      end
      break
    elseif isdead(c) then
      drop(res, c)
      begun, admits = true, admits - 1
    elseif not fits(res, c.weight) then
      break
    else
      unlist(res, c)
      begun, admits = true, admits - 1
      if grant(res, c) then
        admitted[#admitted + 1] = c
      else
        unindex(c)
        tell(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
      end
    end
  end
  write(res)
  for _, c in ipairs(admitted) do
    if c.binding ~= 's' then
      tell(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
    else
      tell(session(c.sid), format('G %s %s %.0f %.0f %d ', c.sid, c.claim, c.first, c.last, res.queue > 0 and 1 or 0) .. res.name)
    end
  end
end
