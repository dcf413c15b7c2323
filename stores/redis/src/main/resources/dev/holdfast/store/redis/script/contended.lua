-- Carries out the command at a place of the arguments, and tells where the next one begins; or ends what is due.
local run, sweep

return function(i, members)
  local width = i and not crowded and not full and WIDTHS[args[i]]
  if width then
    local ok, answer = pcall(hand, i)
    if not ok then
      -- The first write is the one that may fail.
      answer = { 'E', type(answer) == 'table' and answer.err or tostring(answer), 0 }
    end
    if answer then
      return answer, i + width
    end
  end
  if not run then
    run, sweep = (function()
-- part: common resources claims admission load acquire protect dispatch
    end)()
  end
  if members then
    sweep(members)
  else
    return run(i)
  end
end
