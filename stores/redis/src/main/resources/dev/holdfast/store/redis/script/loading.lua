-- A resource as a step finds it: what belongs to sessions that are being ended is dropped first.
local function load(name)
  local res = read(name)
  local touched = false
  if res and res.inline and not outlives(res.inline) and not session(res.inline.sid) then
    -- Somebody removed the session by hand: nothing else would ever end this.
    drop(res, res.inline)
    touched = true
  end
  if res and crowded then
    local all = { res.inline }
    for _, letter in ipairs({ 'g', 'w' }) do
      for _, member in ipairs(listed(res, letter, letter == 'g' and 'h' or 'x', -1)) do
        all[#all + 1] = claimat(res, member)
      end
    end
    for _, c in ipairs(all) do
      if isdead(c) then
          drop(res, c)
        touched = true
      end
    end
  elseif res and ending then
    for _, sid in ipairs(ending) do
      local from = sid .. '|' .. #name .. '|' .. name .. '|'
      for _, key in ipairs(call('ZRANGEBYLEX', C, '[' .. from, '(' .. from .. ':')) do
        local c = find(res, sid, string.sub(key, #from + 1))
        if c and not outlives(c) then
              drop(res, c)
          touched = true
        end
      end
    end
  end
  if touched then
    settle(res)
  end
  return res and res.known and res or nil
end
