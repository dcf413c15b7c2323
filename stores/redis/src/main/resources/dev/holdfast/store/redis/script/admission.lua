-- Grants queued claims from the head while they fit, notifies their sessions, and writes the resource. If that exceeds the bound
-- for one call, the next call continues; but all waiters of a latch pass at once, before its count may be set again.
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
        unregister(c)
        notify(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
      end
    end
  end
  write(res)
  for _, c in ipairs(admitted) do
    if c.binding ~= 's' then
      notify(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
    else
      notify(session(c.sid), format('G %s %s %.0f %.0f %d ', c.sid, c.claim, c.first, c.last, res.queue > 0 and 1 or 0) .. res.name)
    end
  end
end
