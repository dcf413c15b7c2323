-- Admits from the head of the queue what fits, tells it, and writes the resource.
local function settle(res)
  local admitted = {}
  while res.queue > 0 do
    local c = head(res)
    if not c then
      break
    elseif isdead(c) then
      drop(res, c)
    elseif not fits(res, c.weight) then
      break
    else
      unlist(res, c)
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
