local function several(i, width, each)
  local answer = {}
  for n = 1, tonumber(args[i + 1]) do
    answer[n] = each(unpack(args, i + 2 + (n - 1) * width, i + 1 + n * width))
  end
  return answer
end

-- Runs a step; if it fails, that is its answer, and cached sessions are dropped.
local function safely(what, ...)
  wrote, adds = false, false
  local ok, answer = pcall(what, ...)
  if ok then
    return answer
  end
  sessions = {}
  return { 'E', type(answer) == 'table' and answer.err or tostring(answer), wrote and 1 or 0 }
end
