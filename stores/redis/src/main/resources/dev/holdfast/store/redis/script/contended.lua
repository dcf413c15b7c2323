-- Executes the command at this position of the arguments, and returns its answer and where the next command starts; or ends the
-- members that are due.
local run, sweep

return function(i, members)
  local width = i and not crowded and not full and WIDTHS[args[i]]
  if width then
    local ok, answer = pcall(handle, i)
    if not ok then
      -- Only the first write can fail, so nothing was written.
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
